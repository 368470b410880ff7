package harness

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tick is Linux's unit of processor time.
const tick = 10 * time.Millisecond

// ProcessorTimes returns the processor time of a process, together with a database server and its
// child processes.
func ProcessorTimes(pid, postmaster int) (time.Duration, error) {
	own, _, _, err := processorTime(pid)
	if err != nil {
		return 0, err
	}
	server, ended, _, err := processorTime(postmaster)
	if err != nil {
		return 0, err
	}
	sum := own + server + ended
	processes, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return 0, err
	}
	for _, process := range processes {
		id, err := strconv.Atoi(filepath.Base(process))
		if err != nil {
			return 0, err
		}
		// Other processes may end at any time.
		if used, _, parent, err := processorTime(id); err == nil && parent == postmaster {
			sum += used
		}
	}
	return sum, nil
}

// ProcessorTime returns the processor time that a process has used so far.
func ProcessorTime(pid int) (time.Duration, error) {
	own, _, _, err := processorTime(pid)
	return own, err
}

// processorTime returns the processor time of a process and of its ended children, and its parent.
func processorTime(pid int) (own, ended time.Duration, parent int, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0, 0, err
	}
	// The name of the program, in brackets, may contain spaces.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	var ticks [4]int64
	for i := range ticks {
		if ticks[i], err = strconv.ParseInt(fields[11+i], 10, 64); err != nil {
			return 0, 0, 0, err
		}
	}
	parent, err = strconv.Atoi(fields[1])
	return time.Duration(ticks[0]+ticks[1]) * tick, time.Duration(ticks[2]+ticks[3]) * tick, parent, err
}

// FirstNumber returns the number in the first line of a file.
func FirstNumber(path string) (int, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return strconv.Atoi(line)
}

// PeakMemory returns the peak memory of a process so far, in MiB.
func PeakMemory(pid int) (float64, error) { return ProcessMemory(pid, "VmHWM:") }

// ProcessMemory returns one of Linux's memory sizes of a process, in MiB.
func ProcessMemory(pid int, size string) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, size); ok {
			var kib float64
			_, err := fmt.Sscanf(value, "%f kB", &kib)
			return kib / 1024, err
		}
	}
	return 0, fmt.Errorf("process %d does not show its memory", pid)
}

// Loopback is the host of addresses that only this machine reaches.
const Loopback = "127.0.0.1"

// FreeAddress returns an unused port on a host of this machine.
func FreeAddress(host string) (string, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}
