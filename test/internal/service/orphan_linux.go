package service

import "syscall"

// withParent has the kernel end the process with the test that started it,
// should that be killed before its cleanup.
func withParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
