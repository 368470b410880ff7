// Package bench measures the product as those who use it meet it. Each figure
// that is a ratio stands beside a baseline, the least that any design would have
// to do, measured in turns with it in the same run.
package bench

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

// Options say what is measured.
type Options struct {
	// Only names the figures that are measured, by the beginnings of their names;
	// none means all.
	Only []string
	// Rounds are counted after one that is not; at least 1.
	Rounds int
	// Short measures with smaller crews, and leaves out what takes long.
	Short bool
	// Profiles is the address on which the standalone process serves its
	// profiles; empty for none.
	Profiles string
	// Log receives what happens.
	Log io.Writer
}

func (o Options) wants(name string) bool {
	return len(o.Only) == 0 || slices.ContainsFunc(o.Only, func(only string) bool { return strings.HasPrefix(name, only) })
}

// group is figures that are measured on the same processes.
type group struct {
	names []string
	run   func(*host, Options) ([]figure, error)
}

var groups = []group{
	{[]string{applyLarge, applySmall, window, readStandalone, readTransport}, standalone},
	{[]string{readDeployed, getDeployed}, deployed},
	{[]string{getTemplate, getPerson, getWeek, getKeys, getLimits}, smallReads},
	{[]string{tracing}, tracingFigure},
	{[]string{spans}, worker},
	{[]string{toJSON}, transcoding},
	{[]string{authorise}, authorising},
	{[]string{evaluate}, evaluating},
	{[]string{passwordGrants, refreshGrants}, grants},
	{[]string{memory}, population},
	{[]string{hyperfind, data, persons}, companyFigures},
	{[]string{largeResponse}, largeResponses},
	{[]string{stagedMonth}, stagingFigures},
	{[]string{walBytes, overtaken, otherTenant, amongMany}, queueFigures},
	{[]string{millionChange}, millionFigures},
	{[]string{propagators}, propagatorsFigure},
	{[]string{start}, startFigures},
	{[]string{restMemory}, restFigure},
	{[]string{image}, imageFigures},
	{[]string{storage}, storageFigure},
}

// Names of the figures.
const (
	applyLarge     = "apply-10000"
	applySmall     = "apply-1000"
	window         = "window"
	readStandalone = "read-standalone"
	readTransport  = "read-transport"
	readDeployed   = "read-deployed"
	getDeployed    = "get-deployed"
	getTemplate    = "get-template"
	getPerson      = "get-person"
	getWeek        = "get-week"
	getKeys        = "get-keys"
	getLimits      = "get-limits"
	tracing        = "tracing"
	spans          = "spans"
	toJSON         = "json"
	memory         = "memory"
	passwordGrants = "password-grants"
	refreshGrants  = "refresh-grants"
	authorise      = "authorise"
	evaluate       = "evaluate"
	hyperfind      = "hyperfind"
	data           = "data"
	persons        = "persons"
	largeResponse  = "large-responses"
	stagedMonth    = "staging"
	walBytes       = "wal"
	overtaken      = "overtaken"
	otherTenant    = "other-tenant"
	amongMany      = "among-many"
	millionChange  = "million"
	propagators    = "two-propagators"
	start          = "start"
	restMemory     = "rest-memory"
	image          = "image"
	storage        = "storage"
)

// Run measures, prints the table and reports whether every target is met.
func Run(ctx context.Context, out io.Writer, o Options) (bool, error) {
	var figures []figure
	for _, g := range groups {
		if !slices.ContainsFunc(g.names, o.wants) {
			continue
		}
		err := withHost(ctx, o.Log, func(h *host) error {
			h.Logf("measuring %s", strings.Join(g.names, ", "))
			found, err := g.run(h, o)
			figures = append(figures, found...)
			return err
		})
		if err != nil {
			return false, fmt.Errorf("%s: %w", strings.Join(g.names, ", "), err)
		}
	}
	return write(out, figures)
}

// crewSize is 10,000, or fewer for a short run.
func (o Options) crewSize() int {
	if o.Short {
		return 2_000
	}
	return 10_000
}

// standalone measures on the standalone process.
func standalone(h *host, o Options) ([]figure, error) {
	server := launch.Standalone(h, "--log-level", "warn", "--admin-profiles", "--admin-address", o.Profiles)
	api := scenario.API{Target: server.Target(h)}
	var figures []figure
	add := func(f figure, err error) error {
		figures = append(figures, f)
		return err
	}
	if o.wants(applyLarge) || o.wants(readStandalone) || o.wants(readTransport) {
		crew, err := hire(h.ctx, api, o.crewSize(), "")
		if err != nil {
			return nil, err
		}
		if o.wants(applyLarge) {
			if err := add(applyFigure(h, o, applyLarge, api, crew, 0.2)); err != nil {
				return nil, err
			}
		}
		if o.wants(readStandalone) || o.wants(readTransport) {
			t := target{api: api, tlsDir: filepath.Dir(server.CAFile), postgres: launch.PrivatePostgres(server.StateDir)}
			reads, err := readFigures(h, o, readStandalone, t, crew)
			if err != nil {
				return nil, err
			}
			figures = append(figures, reads...)
		}
	}
	if o.wants(applySmall) {
		crew, err := hire(h.ctx, api, 1_000, "")
		if err != nil {
			return nil, err
		}
		if err := add(applyFigure(h, o, applySmall, api, crew, 0.2)); err != nil {
			return nil, err
		}
	}
	if o.wants(window) {
		if err := add(windowFigure(h, o, api)); err != nil {
			return nil, err
		}
	}
	return figures, nil
}
