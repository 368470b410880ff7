// Package person serves persons: employment data, and permission to log in. The packages
// below it are its parts: record holds a person in memory, rules checks requests, store reads
// and writes rows, reader reads for callers, and writer creates, changes and deletes.
package person

import (
	"context"
	"fmt"
	"log/slog"

	"golang.org/x/text/currency"

	"github.com/rotaloom/rotaloom/pkg/cache"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/extension"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/reader"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/rules"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/writer"
	"github.com/rotaloom/rotaloom/services/commons/internal/search"
)

// Config holds the settings of persons.
type Config struct {
	// DefaultTimeZone is the IANA name for persons without a time zone.
	DefaultTimeZone string
	// DefaultCurrency is the ISO 4217 code for persons without a currency.
	DefaultCurrency string
}

// Deps are the dependencies of the package.
type Deps struct {
	Pool  *pg.Pool
	Users authv1.UserServiceClient
	// Rows decides which persons callers may see, and Groups finds employee groups.
	Rows   *rowvisibility.Rules
	Groups *search.Groups
	// Hyperfinds evaluates stored queries.
	Hyperfinds reader.Hyperfinds
	Log        *slog.Logger
	Clock      clock.Clock
}

// Handler serves PersonService. The interceptors before it guarantee that the context has a
// tenant.
type Handler struct {
	commonsv1.UnsafePersonServiceServer
	pool       *pg.Pool
	reader     *reader.Reader
	writer     *writer.Writer
	extensions extension.Extensions
	zones      *civil.Zones
	// defaultZone is the IANA name for persons without a time zone.
	defaultZone string
	// cache holds persons in the form of responses.
	cache *cache.Cache[cacheKey, cached]
}

// New returns a Handler. An unknown default time zone or currency is an error.
func New(cfg Config, deps Deps) (*Handler, error) {
	zones := &civil.Zones{}
	if _, err := zones.Get(cfg.DefaultTimeZone); err != nil {
		return nil, err
	}
	code, err := currency.ParseISO(cfg.DefaultCurrency)
	if err != nil {
		return nil, fmt.Errorf("default currency: %w", err)
	}
	reader := reader.New(deps.Pool, deps.Rows, deps.Hyperfinds, deps.Clock)
	return &Handler{
		pool: deps.Pool, reader: reader, zones: zones, defaultZone: cfg.DefaultTimeZone, cache: cache.New[cacheKey](deps.Clock, cache.Config[cached]{Entries: maxCached}), extensions: extension.Extensions{Reader: reader, DefaultCurrency: code.String()},
		writer: writer.New(writer.Deps{
			Pool: deps.Pool, Users: deps.Users, Groups: deps.Groups, Log: deps.Log,
			Rules: rules.New(zones, cfg.DefaultTimeZone), Zones: zones,
		}, reader),
	}, nil
}

// Run does the background work until ctx ends.
func (h *Handler) Run(ctx context.Context) error { return h.writer.Run(ctx) }

// GetPerson returns the person with the id in the path.
func (h *Handler) GetPerson(ctx context.Context, req *commonsv1.GetPersonRequest) (*commonsv1.Person, error) {
	if err := h.reader.CheckVisible(ctx, req.GetPersonId()); err != nil {
		return nil, err
	}
	p, version, err := h.cachedPerson(ctx, req.GetPersonId())
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, reader.NotFound(req.GetPersonId())
	}
	return p, rpc.SetVersion(ctx, version)
}
