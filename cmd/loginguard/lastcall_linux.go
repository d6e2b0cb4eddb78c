package main

import (
	"context"
	"errors"
	"net"
	"syscall"
	"time"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

const (
	// lastCallQuiet is how long nobody may wait in the queue before a listener
	// is closed. It is for those whose handshake is under way: a round trip and
	// what a busy machine takes.
	lastCallQuiet = 100 * time.Millisecond

	// lastCallMost is how long it takes where somebody waits all the time.
	lastCallMost = time.Second

	// lastCallEvery is how often the queue is looked at.
	lastCallEvery = 5 * time.Millisecond
)

// newcomers drops what opens a connection, a SYN without ACK, and passes all
// else. It sees a segment from the TCP header on, where the 14th byte has the
// flags. Connections inherit it; they never get such a segment.
var newcomers = []bpf.Instruction{
	bpf.LoadAbsolute{Off: 13, Size: 1},
	bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: 0x12}, // ACK and SYN
	bpf.JumpIf{Cond: bpf.JumpEqual, Val: 0x02, SkipFalse: 1},
	bpf.RetConstant{Val: 0},
	bpf.RetConstant{Val: 1<<32 - 1},
}

// lastCall takes no new connections at a listener from now on, and returns when
// those that were made have been accepted by the server, or when ctx ends.
//
// The kernel makes connections before the server accepts them, and resets those
// that wait when the listener is closed; their clients may have sent a request,
// and cannot know that it was not read. A client whose SYN is dropped has sent
// nothing: it tries again a second later, is refused by then, and goes
// elsewhere.
func lastCall(ctx context.Context, l net.Listener) error {
	socket, ok := l.(syscall.Conn)
	if !ok {
		return errors.New("not a socket")
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return err
	}
	if err := filter(raw, newcomers); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, lastCallMost)
	defer cancel()
	tick := time.NewTicker(lastCallEvery)
	defer tick.Stop()
	for quiet := time.Duration(0); quiet < lastCallQuiet; quiet += lastCallEvery {
		n, err := waiting(raw)
		if err != nil {
			return err
		}
		if n > 0 {
			quiet = 0
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
	return nil
}

// filter attaches a program to a socket.
func filter(raw syscall.RawConn, program []bpf.Instruction) error {
	code, err := bpf.Assemble(program)
	if err != nil {
		return err
	}
	steps := make([]unix.SockFilter, len(code))
	for i, c := range code {
		steps[i] = unix.SockFilter{Code: c.Op, Jt: c.Jt, Jf: c.Jf, K: c.K}
	}
	whole := unix.SockFprog{Len: uint16(len(steps)), Filter: &steps[0]}
	return control(raw, func(fd int) error {
		return unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &whole)
	})
}

// waiting returns how many connections wait to be accepted.
func waiting(raw syscall.RawConn) (n uint32, err error) {
	err = control(raw, func(fd int) error {
		info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
		if err == nil {
			n = info.Unacked // of a socket that listens, the length of its queue
		}
		return err
	})
	return n, err
}

// control calls do with the descriptor of a socket.
func control(raw syscall.RawConn, do func(fd int) error) error {
	var inner error
	if err := raw.Control(func(fd uintptr) { inner = do(int(fd)) }); err != nil {
		return err
	}
	return inner
}
