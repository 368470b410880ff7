//go:build unix

package localpg

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// initialize makes the cluster if there is none. It is made beside its place
// and moved there when complete, so one that is there is whole.
func (l layout) initialize(ctx context.Context, bin binaries, as owner, disposable bool) error {
	if _, err := os.Stat(l.data); err == nil {
		return nil
	}
	// The locale gives the meaning of upper and lower case; not every system has
	// this one. The order of text is that of its code points in both.
	var failures []error
	for _, locale := range []string{"C.UTF-8", "C"} {
		err := l.initdb(ctx, bin, as, locale, disposable)
		if err == nil {
			return nil
		}
		failures = append(failures, err)
	}
	return errors.Join(failures...)
}

func (l layout) initdb(ctx context.Context, bin binaries, as owner, locale string, disposable bool) error {
	unfinished := l.data + ".new"
	if err := os.RemoveAll(unfinished); err != nil {
		return err
	}
	args := []string{"-D", l.door.path(unfinished), "-U", adminRole, "--auth=trust", "--encoding=UTF8", "--locale=" + locale, "--no-instructions"}
	if disposable {
		args = append(args, "--no-sync")
	} else {
		args = append(args, "--data-checksums")
	}
	if out, err := l.door.command(ctx, as, l.root, bin.path("initdb"), args...).CombinedOutput(); err != nil {
		return fmt.Errorf("initdb with locale %s: %w: %s", locale, err, out)
	}
	return os.Rename(unfinished, l.data)
}
