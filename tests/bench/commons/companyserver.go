// Package commons measures operations on a company of many persons.
package commons

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rotaloom/rotaloom/pkg/localpg"
	"github.com/rotaloom/rotaloom/tests/bench/fixture"
	"github.com/rotaloom/rotaloom/tests/bench/harness"
	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

const (
	hyperfind = "hyperfind"
	data      = "data"
	persons   = "persons"
)

// Groups are the figures of this package, in the order of the table.
var Groups = []harness.Group{{Names: []string{hyperfind, data, persons}, Run: companyFigures}}

// companyServer is a company in a standalone process, on a database server that flushes its commits
// to disk.
type companyServer struct {
	api      scenario.API
	company  *fixture.Company
	crew     *scenario.Crew
	postgres func(database string) string
	// dataStatements are the statements of the services for one read of data.
	dataStatements []*statement
	// hyperfindSQL is the statement that finds the persons of a hyperfind.
	hyperfindSQL string
}

// companyFigures measures operations on a company.
func companyFigures(h *harness.Host, o harness.Options) (figures []harness.Figure, err error) {
	if o.Short {
		h.Logf("left out by -short")
		return nil, nil
	}
	server, err := localpg.Start(h.Context(), localpg.Config{Dir: filepath.Join(h.TempDir(), "durable")})
	if err != nil {
		return nil, err
	}
	h.Cleanup(func() {
		if err := server.Stop(context.WithoutCancel(h.Context())); err != nil {
			h.Errorf("%v", err)
		}
	})
	p, err := startCompanyServer(h, o, server)
	if err != nil {
		return nil, err
	}
	for _, one := range []struct {
		name    string
		measure func(*harness.Host, harness.Options, *companyServer) (harness.Figure, error)
	}{{hyperfind, hyperfindFigure}, {data, dataFigure}, {persons, personsFigure}} {
		if !o.Wants(one.name) {
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

// startCompanyServer creates a company, records the statements of a read of data, and then restarts
// the process without the recorder.
func startCompanyServer(h *harness.Host, o harness.Options, server *localpg.Server) (*companyServer, error) {
	p := &companyServer{postgres: server.AdminURL}
	direct, err := url.Parse(server.AdminURL("postgres"))
	if err != nil {
		return nil, err
	}
	recorder, err := startQueryRecorder(h, filepath.Join(direct.Query().Get("host"), ".s.PGSQL.5432"))
	if err != nil {
		return nil, err
	}
	state := h.TempDir()
	recordedServer := launch.StandaloneIn(h, state, nil, "--log-level", "warn", "--database-url", recorder.url())
	p.api = scenario.API{Target: recordedServer.Target(h)}
	if err := p.populate(h, recorder); err != nil {
		return nil, err
	}
	recordedServer.Stop(h)
	p.api = scenario.API{Target: launch.StandaloneIn(h, state, nil,
		"--log-level", "warn", "--admin-profiles", "--admin-address", o.Profiles, "--database-url", direct.String()).Target(h)}
	return p, nil
}

func (p *companyServer) populate(h *harness.Host, recorder *queryRecorder) (err error) {
	began := time.Now()
	if p.company, err = fixture.CreateCompany(h.Context(), p.api, p.postgres(fixture.CommonsDatabase)); err != nil {
		return err
	}
	if p.crew, err = p.company.Crew(h.Context(), p.api, 2*DataEmployees); err != nil {
		return err
	}
	h.Logf("a company of %d persons and %d locations: %.1f s", fixture.Persons, fixture.Locations, time.Since(began).Seconds())
	p.dataStatements, err = recorder.statements(func() error {
		_, _, err := p.api.Bytes(h.Context(), "POST", DataPath, p.dataRequest())
		return err
	})
	if err == nil && len(p.dataStatements) == 0 {
		err = errors.New("a reading of data runs no statements")
	}
	if err != nil {
		return err
	}
	found, err := recorder.statements(func() error {
		_, _, err := p.api.Bytes(h.Context(), "POST", HyperfindPath, ActivePersonsRequest())
		return err
	})
	if err != nil {
		return err
	}
	i := slices.IndexFunc(found, func(s *statement) bool { return strings.Contains(s.sql, "FROM person p WHERE") })
	if i < 0 {
		return errors.New("a hyperfind runs no statement that finds persons")
	}
	p.hyperfindSQL = found[i].sql
	return nil
}

func (p *companyServer) dataRequest() scenario.Object {
	return DataRequest(p.crew.Persons[:DataEmployees], fixture.ReadFirst, fixture.ReadLast, false, dataElements...)
}
