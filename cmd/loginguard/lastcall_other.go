//go:build !linux

package main

import (
	"context"
	"errors"
	"net"
)

// lastCall is for Linux only: elsewhere the kernel resets the connections that
// wait when a listener is closed.
func lastCall(context.Context, net.Listener) error { return errors.ErrUnsupported }
