package launch

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	// maxReported is the number of log lines that are shown for the processes of a failed test. The
	// full log goes to a file, because a page of log below the failure would hide it.
	maxReported  = 8
	maxLineShown = 400
)

// report prints the last warnings of a process of a failed test, and the path of its full log.
func (p *Process) report(t testing.TB) {
	t.Helper()
	data, err := os.ReadFile(p.Log)
	if err != nil {
		t.Logf("log of %s: %v", p.Path, err)
		return
	}
	kept, err := saveLog(t.Name(), filepath.Base(p.Log), data)
	if err != nil {
		kept = err.Error()
	}
	t.Logf("%s ended with %d. Its log is %s\nIts last warnings:\n%s", filepath.Base(p.Path), p.ExitCode(), kept, warnings(data))
}

// saveLog saves a log beyond the end of its test.
func saveLog(test, name string, log []byte) (string, error) {
	dir := filepath.Join(os.TempDir(), "rotaloom-test-logs", strings.ReplaceAll(test, "/", "."))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	path := filepath.Join(dir, name)
	return path, os.WriteFile(path, log, 0o600)
}

// warnings returns the last lines of a log above the level of information, and lines that are not
// log lines, such as a panic.
func warnings(log []byte) string {
	var lines []string
	for line := range bytes.Lines(log) {
		if bytes.Contains(line, []byte(`"level":"INFO"`)) || bytes.Contains(line, []byte(`"level":"DEBUG"`)) {
			continue
		}
		lines = append(lines, strings.TrimSpace(string(line[:min(len(line), maxLineShown)])))
	}
	return strings.Join(lines[max(0, len(lines)-maxReported):], "\n")
}

// Wrote reports whether the output of the process so far contains a text.
func (p *Process) Wrote(text string) bool {
	data, err := os.ReadFile(p.Log)
	return err == nil && bytes.Contains(data, []byte(text))
}
