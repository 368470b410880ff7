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

// tick is the unit in which Linux counts processor time.
const tick = 10 * time.Millisecond

// ProcessorTimes is the processor time that a process has taken, together with a
// database server and everything that it has started.
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
		// Others come and go.
		if used, _, parent, err := processorTime(id); err == nil && parent == postmaster {
			sum += used
		}
	}
	return sum, nil
}

// ProcessorTime is the processor time that a process has taken so far.
func ProcessorTime(pid int) (time.Duration, error) {
	own, _, _, err := processorTime(pid)
	return own, err
}

// processorTime returns the processor time of a process, that of its children
// that have ended, and its parent.
func processorTime(pid int) (own, ended time.Duration, parent int, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0, 0, err
	}
	// The name of the program, in brackets, may hold blanks.
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

// FirstNumber is the number in the first line of a file.
func FirstNumber(path string) (int, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return strconv.Atoi(line)
}

// PeakMemory is the most memory that a process has taken so far, in MiB.
func PeakMemory(pid int) (float64, error) { return MemoryOf(pid, "VmHWM:") }

// MemoryOf reads one of the sizes that Linux shows of a process, in MiB.
func MemoryOf(pid int, size string) (float64, error) {
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

// FreeAddress is an address of this machine on which nobody listens.
func FreeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}
