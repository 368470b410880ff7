package bench

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

// goBench runs the Go benchmarks of a package whose names match the pattern as
// often as there are rounds, one process each, and returns their metrics as
// "name/metric". The benchmarks bring their baselines along; env is added to their
// environment.
func goBench(h *host, o Options, module, pkg, pattern, benchtime string, env ...string) (map[string]sample, error) {
	dir := filepath.Join(launch.Root(h), module)
	binary := filepath.Join(h.TempDir(), "bench.test")
	if out, err := command(h.ctx, dir, nil, "go", "test", "-c", "-o", binary, pkg); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	metrics := map[string]sample{}
	for range o.Rounds {
		out, err := command(h.ctx, filepath.Join(dir, pkg), env, binary,
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
func collect(metrics map[string]sample, out []byte) error {
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

// worker compares what the workers write with a COPY of the same rows.
func worker(h *host, o Options) ([]figure, error) {
	const name = "BenchmarkWorker/first-spans/2-workers"
	m, err := goBench(h, o, "services/scheduling", "./internal/propagation/propagator", "^BenchmarkWorker$/^first-spans$/^2-workers$", "3x")
	if err != nil {
		return nil, err
	}
	return []figure{{
		name: spans, unit: "spans/s", atLeast: 0.5, measured: m[name+"/spans/s"], baseline: m[name+"/copied-spans/s"],
		note: "two workers, against one COPY of the same rows",
	}}, nil
}

// transcoding compares the edge's JSON of a schedule with protojson's.
func transcoding(h *host, o Options) ([]figure, error) {
	const name = "BenchmarkAgainstProtojson/"
	m, err := goBench(h, o, "gateway", "./transcode", "^BenchmarkAgainstProtojson$", "7x")
	if err != nil {
		return nil, err
	}
	return []figure{{
		name: toJSON, unit: "MB/s", atLeast: 8, measured: m[name+"MB/s"], baseline: m[name+"protojson-MB/s"],
		note: "15,000 shifts, against protojson.Marshal of the same message",
	}}, nil
}

// authorising measures what a GET costs more because its caller is
// authenticated, authorised and held to a rate.
func authorising(h *host, o Options) ([]figure, error) {
	m, err := goBench(h, o, "gateway", ".", "^BenchmarkAuthorise$", "20x")
	if err != nil {
		return nil, err
	}
	return []figure{{
		name: authorise, unit: "µs", atMost: 30, measured: m["BenchmarkAuthorise/added-µs"],
		note: "processor time of a GET, against a public one that is not throttled",
	}}, nil
}

// evaluating compares the evaluation of rules with only putting the shifts together.
func evaluating(h *host, o Options) ([]figure, error) {
	m, err := goBench(h, o, "services/scheduling", "./internal/ruleviolation", "^BenchmarkEvaluate$", "15x")
	if err != nil {
		return nil, err
	}
	return []figure{{
		name: evaluate, unit: "ms", atMost: 3, measured: m["BenchmarkEvaluate/evaluating-ms"], baseline: m["BenchmarkEvaluate/expanding-ms"],
		note: "five rules, 1,000 employees and 28 days, against only putting the same shifts together",
	}}, nil
}
