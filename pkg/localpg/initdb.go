//go:build unix

package localpg

import (
	"context"
	"fmt"
	"os"
	"strings"
)

// initialize creates the cluster if it does not exist. It creates the cluster under another name
// and renames it when it is complete, so an existing cluster is complete.
func (l layout) initialize(ctx context.Context, bin binaries, as owner, disposable bool) error {
	if _, err := os.Stat(l.data); err == nil {
		return nil
	}
	// The locale defines upper and lower case; not every system has C.UTF-8. Both locales order
	// text by code points.
	err := l.initdb(ctx, bin, as, "C.UTF-8", disposable)
	if err != nil && strings.Contains(err.Error(), "invalid locale") {
		err = l.initdb(ctx, bin, as, "C", disposable)
	}
	return err
}

func (l layout) initdb(ctx context.Context, bin binaries, as owner, locale string, disposable bool) error {
	unfinished := l.data + ".new"
	if err := os.RemoveAll(unfinished); err != nil {
		return err
	}
	args := []string{"-D", l.rootDir.path(unfinished), "-U", adminRole, "--auth=trust", "--encoding=UTF8", "--locale=" + locale, "--no-instructions"}
	if disposable {
		args = append(args, "--no-sync")
	} else {
		args = append(args, "--data-checksums")
	}
	if out, err := l.rootDir.command(ctx, as, l.root, bin.path("initdb"), args...).CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, errorOutput(out))
	}
	return os.Rename(unfinished, l.data)
}

// maxErrorOutput bounds the output of a failed program in an error.
const maxErrorOutput = 300

// errorOutput returns the error lines in the output of a PostgreSQL program, or its last line if it
// has none.
func errorOutput(out []byte) string {
	var said []string
	last := ""
	for line := range strings.Lines(string(out)) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		last = line
		for _, severity := range []string{"error: ", "fatal: ", "FATAL:", "PANIC:", "HINT:"} {
			if strings.Contains(line, severity) {
				said = append(said, line)
				break
			}
		}
	}
	text := strings.Join(said, "; ")
	if text == "" {
		text = last
	}
	if len(text) > maxErrorOutput {
		text = strings.ToValidUTF8(text[:maxErrorOutput], "") + "..."
	}
	return text
}
