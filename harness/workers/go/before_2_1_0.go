//go:build before_2_1_0

package main

import (
	"os"

	"github.com/apache/rocketmq-client-go/v2/rlog"
	"github.com/sirupsen/logrus"
)

// fileLog writes what the client's own logger prints; this version can only be given another logger.
type fileLog struct{ to *logrus.Logger }

func logInto(file string) error {
	opened, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	to := logrus.New()
	to.SetOutput(opened)
	rlog.SetLogger(fileLog{to})
	return nil
}

func (log fileLog) Debug(message string, fields map[string]interface{}) {
	log.to.WithFields(fields).Debug(message)
}
func (log fileLog) Info(message string, fields map[string]interface{}) {
	log.to.WithFields(fields).Info(message)
}
func (log fileLog) Warning(message string, fields map[string]interface{}) {
	log.to.WithFields(fields).Warning(message)
}
func (log fileLog) Error(message string, fields map[string]interface{}) {
	log.to.WithFields(fields).Error(message)
}
func (log fileLog) Fatal(message string, fields map[string]interface{}) {
	log.to.WithFields(fields).Fatal(message)
}
