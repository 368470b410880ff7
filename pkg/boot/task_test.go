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

type check struct {
	Output
	Fail, Find bool
}

func (c check) Do(ctx context.Context, _ *slog.Logger, out io.Writer) error {
	fmt.Fprintln(out, "checked", ctx.Err())
	if c.Fail {
		return errors.New("nothing answers")
	}
	if c.Find {
		return fmt.Errorf("tenant 1: %w", &CheckFailed{Found: "one differs"})
	}
	return c.Print(out, map[string]int{"differ": 0}, func(table io.Writer) {
		fmt.Fprintln(table, "what\thow many")
		fmt.Fprintln(table, "differ\t0")
	})
}

func TestACommandMayBeATask(t *testing.T) {
	t.Parallel()
	serving := errors.New("serving")
	for name, c := range map[string]struct {
		args      []string
		code      int
		out, errs string
	}{
		"a task":             {[]string{"check"}, exitOK, "checked <nil>\nwhat    how many\ndiffer  0\n", ""},
		"a task, as JSON":    {[]string{"check", "--output=json"}, exitOK, "checked <nil>\n{\"differ\":0}\n", ""},
		"a task that fails":  {[]string{"check", "--fail"}, exitFailed, "checked <nil>\n", "rotaloom-test: nothing answers\n"},
		"a task that finds":  {[]string{"check", "--find"}, exitFound, "checked <nil>\n", "rotaloom-test: tenant 1: one differs\n"},
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
