package boot

import (
	"errors"
	"fmt"
	"net"
	"syscall"
)

// Listen listens on a TCP address, the value of a flag. If another program has the address, the error names the flag.
func Listen(flag, address string) (net.Listener, error) {
	listener, err := net.Listen("tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("another program listens on %s: stop it, or choose another address with %s (%w)", address, flag, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	return listener, nil
}
