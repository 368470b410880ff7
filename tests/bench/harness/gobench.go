package harness

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rotaloom/rotaloom/tests/launch"
)

// GoBench runs the Go benchmarks of a package that match the pattern, once for each round in a
// separate process, and returns their metrics as "name/metric". The benchmarks include their
// baselines; env is added to their environment.
func GoBench(h *Host, o Options, module, pkg, pattern, benchtime string, env ...string) (map[string]Sample, error) {
	dir := filepath.Join(launch.Root(h), module)
	binary := filepath.Join(h.TempDir(), "bench.test")
	if out, err := command(h.Context(), dir, nil, "go", "test", "-c", "-o", binary, pkg); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	metrics := map[string]Sample{}
	for range o.Rounds {
		out, err := command(h.Context(), filepath.Join(dir, pkg), env, binary,
			"-test.run", "^$", "-test.bench", pattern, "-test.benchtime", benchtime)
		if err != nil {
			return nil, fmt.Errorf("%w\n%s", err, out)
		}
		if err := collect(metrics, out); err != nil {
			return nil, err
		}
	}
	return metrics, nil
}

func command(ctx context.Context, dir string, env []string, name string, args ...string) ([]byte, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir, c.Env = dir, append(os.Environ(), env...)
	return c.CombinedOutput()
}

// collect adds the metrics of the lines "BenchmarkName-8  7  123 ns/op  4 MB/s".
func collect(metrics map[string]Sample, out []byte) error {
	for line := range bytes.Lines(out) {
		fields := strings.Fields(string(line))
		if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		name := fields[0]
		if at := strings.LastIndexByte(name, '-'); at > 0 {
			name = name[:at]
		}
		for i := 2; i+1 < len(fields); i += 2 {
			v, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				return fmt.Errorf("%s: %w", bytes.TrimSpace(line), err)
			}
			key := name + "/" + fields[i+1]
			metrics[key] = append(metrics[key], v)
		}
	}
	return nil
}
