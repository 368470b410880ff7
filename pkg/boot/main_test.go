package boot

import (
	"context"
	"errors"
	"net/http"
	"os"
	"regexp"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/testkit/syncbuffer"
)

type testSettings struct {
	Common

	Color string `required:"" help:"A color."`
}

type testProgram struct {
	program
	out, errs syncbuffer.Buffer
	signals   chan os.Signal
	exited    chan int
}

func newProgram(args ...string) *testProgram {
	p := &testProgram{signals: make(chan os.Signal, 2), exited: make(chan int, 1)}
	p.program = program{
		name: "rotaloom-test", description: "A test.", args: append(args, "--admin-address="),
		out: &p.out, errs: &p.errs, signals: p.signals, exit: func(code int) { p.exited <- code }, lookup: os.LookupEnv,
	}
	return p
}

func TestProgramStopsAtASignal(t *testing.T) {
	t.Parallel()
	p, started := newProgram("--color=red", "--log-format=text"), make(chan struct{})
	settings := &testSettings{}
	p.signals <- syscall.SIGTERM
	code := p.run(settings, func(_ context.Context, app *App) error {
		app.Go(StageServers, "server", func(ctx context.Context) error {
			close(started)
			<-ctx.Done()
			return nil
		})
		return nil
	})
	<-started
	assert.Equal(t, exitOK, code, p.errs.String())
	assert.Equal(t, "red", settings.Color)
	assert.Equal(t, 20*time.Second, settings.StopTimeout)
	assert.Contains(t, p.errs.String(), "msg=stopped")
	assert.Empty(t, p.exited)
}

func TestASecondSignalEndsTheProcess(t *testing.T) {
	t.Parallel()
	p, release := newProgram("--color=red"), make(chan struct{})
	done := make(chan int, 1)
	go func() {
		done <- p.run(&testSettings{}, func(_ context.Context, app *App) error {
			app.Go(StageEdge, "stubborn", func(context.Context) error { <-release; return nil })
			return nil
		})
	}()
	p.signals <- os.Interrupt
	p.signals <- os.Interrupt
	assert.Equal(t, exitFailed, <-p.exited)
	close(release)
	<-done
}

// Stopping a program during its start is not a failure.
func TestProgramThatIsStoppedWhileItStarts(t *testing.T) {
	t.Parallel()
	p, closed := newProgram("--color=red"), false
	p.signals <- os.Interrupt
	code := p.run(&testSettings{}, func(ctx context.Context, app *App) error {
		app.OnClose("pool", func(context.Context) error { closed = true; return nil })
		<-ctx.Done()
		return errors.New("no database: the connection was cut off")
	})
	assert.Equal(t, exitOK, code)
	assert.True(t, closed)
	assert.Empty(t, p.errs.String())
}

func TestProgramThatCannotStartClosesWhatItOpened(t *testing.T) {
	t.Parallel()
	p, closed := newProgram("--color=red"), false
	code := p.run(&testSettings{}, func(_ context.Context, app *App) error {
		app.OnClose("pool", func(context.Context) error { closed = true; return nil })
		return errors.Join(errors.New("no database:\n\tnobody listens"), errors.New("no broker"))
	})
	assert.Equal(t, exitFailed, code)
	assert.True(t, closed)
	assert.Equal(t, "rotaloom-test: starting: no database: nobody listens; no broker\n", p.errs.String())
}

func TestSettings(t *testing.T) {
	t.Parallel()
	never := func(context.Context, *App) error { return errors.New("started") }
	for name, c := range map[string]struct {
		args []string
		code int
		text string
	}{
		"a setting is missing":   {nil, exitUsage, "--color"},
		"an unknown setting":     {[]string{"--color=red", "--colour=red"}, exitUsage, "--colour"},
		"a bad value":            {[]string{"--color=red", "--log-level=loud"}, exitUsage, "log-level"},
		"help, with environment": {[]string{"--help"}, exitOK, "ROTALOOM_COLOR"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProgram(c.args...)
			assert.Equal(t, c.code, p.run(&testSettings{}, never), name)
			assert.Contains(t, p.out.String()+p.errs.String(), c.text, name)
		})
	}
}

// Not parallel: it changes the environment.
func TestSettingsFromTheEnvironment(t *testing.T) {
	t.Setenv("ROTALOOM_COLOR", "blue")
	t.Setenv("ROTALOOM_DRAIN_DELAY", "1ms")
	t.Setenv("ROTALOOM_LOG_FORMAT", "text")
	p, settings := newProgram(), &testSettings{}
	p.run(settings, func(context.Context, *App) error { return errors.New("enough") })
	assert.Equal(t, "blue", settings.Color)
	assert.Equal(t, time.Millisecond, settings.DrainDelay)
	assert.Equal(t, "text", settings.Format)
}

func TestAdminListenerServesWhileTheProgramRuns(t *testing.T) {
	t.Parallel()
	at, stop, err := serveAdmin("127.0.0.1:0", http.NotFoundHandler())
	require.NoError(t, err)
	assert.NotEmpty(t, at.String())
	stop()
	_, _, err = serveAdmin("256.0.0.1:0", http.NotFoundHandler())
	require.Error(t, err)

	p := newProgram("--color=red")
	p.args = append(p.args, "--admin-address=256.0.0.1:0")
	assert.Equal(t, exitFailed, p.run(&testSettings{}, nil))
	assert.Regexp(t, regexp.MustCompile("--admin-address: "), p.errs.String())
}
