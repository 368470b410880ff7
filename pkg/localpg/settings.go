//go:build unix

package localpg

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
)

// arguments returns the command line of the server. It contains the settings, so that a newer
// program brings its own; the cluster's file keeps its defaults.
func (c Config) arguments(l layout) []string {
	connections := c.MaxConnections
	if connections <= 0 {
		connections = 200
	}
	settings := map[string]string{
		"listen_addresses":        "",
		"unix_socket_directories": l.rootDir.path(l.socket),
		"port":                    port,
		"max_connections":         strconv.Itoa(connections),
		"shared_buffers":          strconv.FormatInt(c.sharedBuffers()>>20, 10) + "MB",
		"timezone":                "UTC",
		"log_timezone":            "UTC",
		// Our statements are short; JIT-compiling them costs more than running them.
		"jit": "off",
		// Containers often have little room in /dev/shm, which parallel plans need.
		"max_parallel_workers_per_gather": "0",
		"logging_collector":               "off",
		"log_line_prefix":                 "",
		// Keep user data out of the log.
		"log_min_error_statement": "panic",
		"log_error_verbosity":     "terse",
		"max_wal_size":            "2GB",
		// Until a growing table has statistics, some of its searches read all rows of a tenant.
		"autovacuum_naptime": "10s",
	}
	if c.Disposable {
		maps.Copy(settings, map[string]string{
			"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off",
			"wal_level": "minimal", "max_wal_senders": "0", "autovacuum": "off",
		})
	}
	args := []string{"-D", l.rootDir.path(l.data)}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		args = append(args, "-c", name+"="+settings[name])
	}
	return args
}

// sharedBuffers returns the size of the server's cache in bytes: an eighth of the memory that this
// process may use, from 64 MB to 1 GB.
func (c Config) sharedBuffers() int64 {
	const mb = 1 << 20
	switch {
	case c.SharedBuffers > 0:
		return max(c.SharedBuffers, mb)
	case c.Disposable:
		return 64 * mb
	}
	return min(max(memory()/8, 64*mb), 1024*mb)
}

// memory returns the memory of the machine or the container in bytes; 1 GB if that cannot be read.
func memory() int64 {
	total := int64(1 << 30)
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		var kb int64
		if _, err := fmt.Sscanf(string(text), "MemTotal: %d kB", &kb); err == nil {
			total = kb << 10
		}
	}
	if text, err := os.ReadFile("/sys/fs/cgroup/memory.max"); err == nil {
		// "max" means no limit, and does not parse as a number.
		if limit, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil {
			total = min(total, limit)
		}
	}
	return total
}
