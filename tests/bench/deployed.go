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
	t := target{api: api, tlsDir: filepath.Dir(d.CAFile), postgres: d.Postgres.AdminURL}
	var figures []figure
	if o.wants(readDeployed) {
		crew, err := hire(h.ctx, api, o.crewSize(), "")
		if err != nil {
			return nil, err
		}
		// This database server is one for tests, which does not do so by itself.
		if err := execute(h.ctx, d.Postgres.AdminURL("scheduling"), "VACUUM (ANALYZE)"); err != nil {
			return nil, fmt.Errorf("statistics: %w", err)
		}
		reads, err := readFigures(h, o, readDeployed, t, crew)
		if err != nil {
			return nil, err
		}
		figures = append(figures, reads...)
	}
	if o.wants(getDeployed) {
		f, err := throughputFigure(h, o, t)
		if err != nil {
			return figures, err
		}
		figures = append(figures, f)
	}
	return figures, nil
}

// throughputFigure measures how many GETs of one shift template separate processes serve in
// a second, the edge over TLS and the services behind it over mTLS, against a bare handler
// over TLS that selects the same bytes.
func throughputFigure(h *host, o Options, t target) (figure, error) {
	f := figure{name: getDeployed, unit: "GET/s", atLeast: 0.25, note: "one shift template; separate processes, mTLS between them; 16 clients"}
	objects, err := smallObjects(h.ctx, t.api)
	if err != nil {
		return f, err
	}
	// A database of its own: the read has one as well.
	base, _, err := startSmallYardstick(h, t, objects[:1], "smallyardstick")
	if err != nil {
		return f, err
	}
	client := crowdClient(t.api.Client)
	product := getter{client: client, url: t.api.BaseURL + objects[0].path, token: t.api.Token}
	bare := getter{client: client, url: base + "/0"}
	samples, err := interleave(h.ctx, o.Rounds, product.rate, bare.rate)
	if err == nil {
		f.measured, f.baseline = samples[0], samples[1]
	}
	return f, err
}
