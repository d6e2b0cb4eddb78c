//go:build !linux

package service

import "syscall"

// withParent has no equivalent here: a test that is killed leaves its service.
func withParent() *syscall.SysProcAttr { return nil }
