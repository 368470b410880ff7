package person

import (
	"context"
	"log/slog"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/search/employeegroup"
)

// Config of persons.
type Config struct {
	// DefaultTimeZone is the IANA name for persons without a time zone.
	DefaultTimeZone string
}

// Deps are what persons need of others.
type Deps struct {
	Pool  *pgxpool.Pool
	Users authv1.UserServiceClient
	// Rows say whom callers may see, and Groups whose employee group is which.
	Rows   *rowvisibility.Rules
	Groups *employeegroup.Groups
	// Hyperfinds say whom stored queries find.
	Hyperfinds Hyperfinds
	Log        *slog.Logger
	Clock      clock.Clock
	// Wake tells the relay that there are events to publish.
	Wake func()
}

// Handler serves PersonService. The interceptors in front of it see to it that
// the context has a tenant.
type Handler struct {
	commonsv1.UnsafePersonServiceServer
	pool     *pgxpool.Pool
	rules    *rules
	accounts *accounts
	lockouts *lockouts
	rows     rowRules
	// hyperfinds says whom the queries find by which callers filter.
	hyperfinds Hyperfinds
	clock      clock.Clock
	wake       func()
	// shown are persons as answers show them.
	shown *lru.Cache[shownKey, shown]
}

// New makes a Handler. An unknown default time zone is an error.
func New(cfg Config, deps Deps) (*Handler, error) {
	zones := &civil.Zones{}
	if _, err := zones.Get(cfg.DefaultTimeZone); err != nil {
		return nil, err
	}
	rules := &rules{zones: zones, defaultZone: cfg.DefaultTimeZone}
	return &Handler{
		pool:     deps.Pool,
		rules:    rules,
		lockouts: &lockouts{pool: deps.Pool, users: deps.Users, rules: rules, log: deps.Log, noted: make(chan struct{}, 1)},
		accounts: &accounts{pool: deps.Pool, users: deps.Users, log: deps.Log},
		rows:     rowRules{rules: deps.Rows, groups: deps.Groups},

		hyperfinds: deps.Hyperfinds,
		clock:      deps.Clock,
		wake:       deps.Wake,
		shown:      newShown(),
	}, nil
}

// Run does the work that no request asks for, until ctx ends.
func (h *Handler) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return h.accounts.run(ctx) })
	group.Go(func() error { return h.lockouts.run(ctx) })
	return group.Wait()
}

// GetPerson answers the person with the id in the path.
func (h *Handler) GetPerson(ctx context.Context, req *commonsv1.GetPersonRequest) (*commonsv1.Person, error) {
	tenantID, _ := tenant.From(ctx)
	if err := h.rows.refuseUnseen(ctx, req.GetPersonId()); err != nil {
		return nil, err
	}
	p, err := h.shownPerson(ctx, tenantID, req.GetPersonId())
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, unknownInPath(req.GetPersonId())
	}
	return p, nil
}
