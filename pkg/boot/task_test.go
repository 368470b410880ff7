package boot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
)

type testCommands struct {
	Common

	Run   struct{ Color string } `cmd:"" default:"withargs"`
	Check check                  `cmd:""`
}

type check struct{ Fail bool }

func (c check) Do(ctx context.Context, _ *slog.Logger, out io.Writer) error {
	fmt.Fprintln(out, "checked", ctx.Err())
	if c.Fail {
		return errors.New("one differs")
	}
	return nil
}

func TestACommandMayBeATask(t *testing.T) {
	t.Parallel()
	serving := errors.New("serving")
	for name, c := range map[string]struct {
		args      []string
		code      int
		out, errs string
	}{
		"a task":             {[]string{"check"}, exitOK, "checked <nil>\n", ""},
		"a task that fails":  {[]string{"check", "--fail"}, exitFailed, "checked <nil>\n", "rotaloom-test: one differs\n"},
		"the other command":  {[]string{"run", "--color=red"}, exitFailed, "", "rotaloom-test: starting: serving\n"},
		"no command at all":  {nil, exitFailed, "", "rotaloom-test: starting: serving\n"},
		"settings, no other": {[]string{"--color=red"}, exitFailed, "", "rotaloom-test: starting: serving\n"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProgram(c.args...)
			assert.Equal(t, c.code, p.run(&testCommands{}, func(context.Context, *App) error { return serving }), name)
			assert.Equal(t, c.out, p.out.String(), name)
			assert.Equal(t, c.errs, p.errs.String(), name)
		})
	}
}
