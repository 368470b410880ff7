package bench

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"time"

	"github.com/rotaloom/rotaloom/pkg/localpg"
	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

// premises are a company in a standalone process, on a database server that
// writes to the disk before it says so.
type premises struct {
	api      scenario.API
	company  *company
	crew     *scenario.Crew
	postgres func(database string) string
	// dataStatements are those that the services run for a reading of data.
	dataStatements []*statement
}

// companyFigures measures what is done with a company.
func companyFigures(h *host, o Options) (figures []figure, err error) {
	if o.Short {
		h.Logf("left out by -short")
		return nil, nil
	}
	server, err := localpg.Start(h.ctx, localpg.Config{Dir: filepath.Join(h.TempDir(), "durable")})
	if err != nil {
		return nil, err
	}
	h.Cleanup(func() {
		if err := server.Stop(context.WithoutCancel(h.ctx)); err != nil {
			h.Errorf("%v", err)
		}
	})
	p, err := settle(h, o, server)
	if err != nil {
		return nil, err
	}
	for _, one := range []struct {
		name    string
		measure func(*host, Options, *premises) (figure, error)
	}{{hyperfind, hyperfindFigure}, {data, dataFigure}, {persons, personsFigure}} {
		if !o.wants(one.name) {
			continue
		}
		f, err := one.measure(h, o, p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", one.name, err)
		}
		figures = append(figures, f)
	}
	return figures, nil
}

// settle founds a company, learns over a tap which statements a reading of data
// takes, and then starts the process again without the tap.
func settle(h *host, o Options, server *localpg.Server) (*premises, error) {
	p := &premises{postgres: server.AdminURL}
	direct, err := url.Parse(server.AdminURL("postgres"))
	if err != nil {
		return nil, err
	}
	line, err := startTap(h, filepath.Join(direct.Query().Get("host"), ".s.PGSQL.5432"))
	if err != nil {
		return nil, err
	}
	state := h.TempDir()
	tapped := launch.StandaloneIn(h, state, nil, "--log-level", "warn", "--database-url", line.url())
	p.api = scenario.API{Target: tapped.Target(h)}
	if err := p.populate(h, line); err != nil {
		return nil, err
	}
	tapped.Stop(h)
	p.api = scenario.API{Target: launch.StandaloneIn(h, state, nil,
		"--log-level", "warn", "--admin-profiles", "--admin-address", o.Profiles, "--database-url", direct.String()).Target(h)}
	return p, nil
}

func (p *premises) populate(h *host, line *tap) (err error) {
	began := time.Now()
	if p.company, err = found(h.ctx, p.api, p.postgres(commonsDatabase)); err != nil {
		return err
	}
	if p.crew, err = p.company.crew(h.ctx, p.api, 2*dataEmployees); err != nil {
		return err
	}
	h.Logf("a company of %d persons and %d locations: %.1f s", companyPersons, companyLocations, time.Since(began).Seconds())
	p.dataStatements, err = line.statements(func() error {
		_, _, err := p.api.Bytes(h.ctx, "POST", dataPath, p.dataRequest())
		return err
	})
	if err == nil && len(p.dataStatements) == 0 {
		err = errors.New("a reading of data runs no statements")
	}
	return err
}

// commonsDatabase is the database of commons in a standalone process.
const commonsDatabase = "rotaloom_commons"

func (p *premises) dataRequest() scenario.Object {
	return dataRequest(p.crew.Persons[:dataEmployees], readFirst, readLast, false, dataElements...)
}
