package link

import (
	"fmt"
	"net/netip"
	"os"

	"golang.org/x/sys/unix"
)

// openDevice creates a TUN device with an address in the namespace of the calling thread, which
// must be locked. The device exists until the file is closed.
func openDevice(address string) (*os.File, error) {
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("%w: /dev/net/tun: %w", ErrUnavailable, err)
	}
	if err := configure(fd, address); err != nil {
		_ = unix.Close(fd) // The error of the configuration says more.
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return os.NewFile(uintptr(fd), deviceName), nil
}

// configure makes a file a device with an address in a network of four addresses.
func configure(fd int, address string) error {
	device, err := unix.NewIfreq(deviceName)
	if err != nil {
		return err
	}
	device.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
	if err := unix.IoctlIfreq(fd, unix.TUNSETIFF, device); err != nil {
		return fmt.Errorf("create a TUN device: %w", err)
	}
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(socket)
	for _, step := range []struct {
		request uint
		value   string
	}{{unix.SIOCSIFADDR, address}, {unix.SIOCSIFNETMASK, "255.255.255.252"}} {
		if err := device.SetInet4Addr(netip.MustParseAddr(step.value).AsSlice()); err != nil {
			return err
		}
		if err := unix.IoctlIfreq(socket, step.request, device); err != nil {
			return fmt.Errorf("set the address of a TUN device: %w", err)
		}
	}
	device.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, device); err != nil {
		return fmt.Errorf("start a TUN device: %w", err)
	}
	return nil
}
