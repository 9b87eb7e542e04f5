//go:build !before_2_1_0

package main

import "github.com/apache/rocketmq-client-go/v2/rlog"

func logInto(file string) error { return rlog.SetOutputPath(file) }
