package bench

import (
	"fmt"
	"path/filepath"

	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

// deployed measures on processes of their own.
func deployed(h *host, o Options) ([]figure, error) {
	d := launch.Deployed(h)
	api := scenario.API{Target: launch.Login(h, d.Client, d.Ready)}
	crew, err := hire(h.ctx, api, o.crewSize(), "")
	if err != nil {
		return nil, err
	}
	// This database server is one for tests, which does not do so by itself.
	if err := execute(h.ctx, d.Postgres.AdminURL("scheduling"), "VACUUM (ANALYZE)"); err != nil {
		return nil, fmt.Errorf("statistics: %w", err)
	}
	t := target{api: api, tlsDir: filepath.Dir(d.CAFile), postgres: d.Postgres.AdminURL}
	f, err := readFigure(h, o, readDeployed, t, crew)
	return []figure{f}, err
}
