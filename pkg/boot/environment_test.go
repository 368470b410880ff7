package boot

import (
	"context"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestUnknownVariablesAreReported(t *testing.T) {
	t.Parallel()
	p := newProgram("--color=red", "--log-format=text")
	p.environ = []string{"ROTALOOM_COLOR=red", "ROTALOOM_COLOR_FILE=/nowhere", "ROTALOOM_COLOUR=blue", "ROTALOOM_=x", "HOME=/root", "OTHER_COLOR=x"}
	p.signals <- syscall.SIGTERM
	code := p.run(&testSettings{}, func(_ context.Context, app *App) error {
		app.Go(StageServers, "server", func(ctx context.Context) error {
			<-ctx.Done()
			return nil
		})
		return nil
	})
	assert.Equal(t, exitOK, code, p.errs.String())
	log := p.errs.String()
	assert.Equal(t, 2, strings.Count(log, "level=WARN"), log)
	assert.Contains(t, log, "variable=ROTALOOM_COLOUR\n")
	assert.Contains(t, log, "variable=ROTALOOM_\n")
}
