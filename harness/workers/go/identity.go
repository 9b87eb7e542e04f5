package main

import (
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/apache/rocketmq-client-go/v2/primitive"
)

// The client's own name for "none is set": it takes the pid then (rmqClient.ClientID).
const defaultInstance = "DEFAULT"

// instanceName is for a client that the harness wants to be `clientIp@instance`: the address can't be set.
func instanceName(clientIp string, instance string) string {
	if instance == defaultInstance {
		return instance
	}
	return clientIp + "-" + instance
}

// clientId is the id under which brokers know a client of this process (rmqClient.ClientID).
func clientId(clientIp string, instance string) string {
	if instance == defaultInstance {
		return fmt.Sprintf("%s@%d", localAddress(), os.Getpid())
	}
	return localAddress() + "@" + instanceName(clientIp, instance)
}

// access is how a client signs its requests; empty: it signs none.
type access struct {
	AccessKey string `json:"access_key"`
	SecretKey string `json:"secret_key"`
}

func (access access) credentials() primitive.Credentials {
	return primitive.Credentials{AccessKey: access.AccessKey, SecretKey: access.SecretKey}
}

// localAddress is the first IPv4 address of an interface that is up and no loopback (utils.ClientIP4).
func localAddress() string {
	interfaces, err := net.Interfaces()
	if err != nil {
		return ""
	}
	for _, item := range interfaces {
		if item.Flags&net.FlagLoopback != 0 || item.Flags&net.FlagUp == 0 {
			continue
		}
		addresses, err := item.Addrs()
		if err != nil {
			continue
		}
		for _, address := range addresses {
			if network, is := address.(*net.IPNet); is && !network.IP.IsLoopback() {
				if found := network.IP.To4(); found != nil {
					return found.String()
				}
			}
		}
	}
	return ""
}

// nameServers are the addresses that a command gives, of several with `;` between them.
func nameServers(text string) primitive.NamesrvAddr {
	return primitive.NamesrvAddr(strings.Split(text, ";"))
}
