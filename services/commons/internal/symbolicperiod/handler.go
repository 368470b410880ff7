package symbolicperiod

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/defaults"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/tzdb"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/structure"
)

// Codes with the status 400. The specified API has the first one for the same condition
// elsewhere; the others are additions.
const (
	// CodeUnknown: the period does not exist.
	CodeUnknown = "WCO-106019"
	// CodeWhere: the where property does not name exactly one subject, or does not name a
	// period.
	CodeWhere = "WRL-10311"
	// CodeType (404 in a path): the type does not exist.
	CodeType = "WRL-10312"
	// CodeSubject: the person or location in where is unknown.
	CodeSubject = "WRL-10313"
)

// Config holds the settings of periods. Every field works at its zero value.
type Config struct {
	Anchor string `name:"anchor" env:"ANCHOR" default:"2025-02-02" help:"First day of some pay period. Weeks begin on its weekday."`
	Days   int    `name:"days" env:"DAYS" default:"14" help:"Days in a pay period."`
	// Zone is the time zone of tenants. The service sets it. It is required.
	Zone string `kong:"-"`
}

// Handler serves SymbolicPeriodService.
type Handler struct {
	commonsv1.UnsafeSymbolicPeriodServiceServer

	pool     *pg.Pool
	rules    *rowvisibility.Rules
	clock    clock.Clock
	calendar Calendar
	zone     *time.Location
}

var _ commonsv1.SymbolicPeriodServiceServer = (*Handler)(nil)

// New returns a Handler. The rules limit the persons whose present day callers may request.
func New(cfg Config, pool *pg.Pool, rules *rowvisibility.Rules, clk clock.Clock) (*Handler, error) {
	if cfg.Days < 0 || cfg.Days > 365 {
		return nil, fmt.Errorf("a pay period of %d days: it has 1 to 365", cfg.Days)
	}
	cfg = defaults.Fill(cfg)
	anchor, err := civil.ParseDate(cfg.Anchor)
	if err != nil {
		return nil, fmt.Errorf("pay period anchor: %w", err)
	}
	zone, err := tzdb.Load(cfg.Zone)
	if err != nil {
		return nil, fmt.Errorf("time zone of tenants: %w", err)
	}
	return &Handler{pool: pool, rules: rules, clock: clk, calendar: NewCalendar(anchor, cfg.Days), zone: zone}, nil
}

// Days returns the days of a symbolic period, relative to the caller's present day.
func (h *Handler) Days(ctx context.Context, ref *commonv1.Ref) (civil.Range, error) {
	period, known := Named(ref.GetQualifier())
	text := fmt.Sprintf("%q", ref.GetQualifier())
	if ref.Id != nil {
		period, known = ByID(ref.GetId())
		text = fmt.Sprint(ref.GetId())
	}
	if !known {
		return civil.Range{}, unknownPeriodError(text)
	}
	today, err := h.callersToday(ctx)
	return period.Days(h.calendar, today), err
}

func unknownPeriodError(text string) error {
	return fault.Invalid(CodeUnknown, fmt.Sprintf("There is no symbolic period %s. GET /v1/commons/symbolicperiod lists them.", text))
}

// ListSymbolicPeriods returns all periods.
func (h *Handler) ListSymbolicPeriods(ctx context.Context, _ *commonsv1.ListSymbolicPeriodsRequest) (*commonsv1.SymbolicPeriodList, error) {
	return h.list(ctx, "")
}

// ListSymbolicPeriodsOfType returns the periods of one type, or 404.
func (h *Handler) ListSymbolicPeriodsOfType(ctx context.Context, req *commonsv1.ListSymbolicPeriodsOfTypeRequest) (*commonsv1.SymbolicPeriodList, error) {
	of, err := typeNamed(req.GetPeriodTypeId())
	if err != nil {
		return nil, fault.NotFound(CodeType, fault.FromError(err).Message)
	}
	return h.list(ctx, of)
}

func typeNamed(text string) (string, error) {
	for _, t := range types() {
		if strings.EqualFold(t, text) {
			return t, nil
		}
	}
	return "", fault.Invalid(CodeType, fmt.Sprintf("There is no type %q of periods. There are %s.", text, strings.Join(types(), ", ")))
}

// list returns the periods of a type, or all periods for "".
func (h *Handler) list(ctx context.Context, of string) (*commonsv1.SymbolicPeriodList, error) {
	today, err := h.callersToday(ctx)
	if err != nil {
		return nil, err
	}
	out := &commonsv1.SymbolicPeriodList{}
	ofType := map[string]int64{}
	for i, p := range All() {
		order, inType := int64(i), ofType[p.Type]
		ofType[p.Type]++
		if of != "" && of != p.Type {
			continue
		}
		out.Periods = append(out.Periods, &commonsv1.SymbolicPeriod{
			Id: &p.ID, SymbolicId: p.Qualifier, Name: p.Name, Type: p.Type, PeriodTypeId: p.Type, SortOrder: &order, TypeSortOrder: &inType,
			DateSpan: span(p.Days(h.calendar, today)),
		})
	}
	return out, nil
}

func span(days civil.Range) *commonsv1.SymbolicPeriodSpan {
	first, last := days.From.String(), (days.To - 1).String()
	return &commonsv1.SymbolicPeriodSpan{StartDate: first, EndDate: last, Begin: first, End: last}
}

// ListSymbolicPeriodTypes returns the types of periods.
func (h *Handler) ListSymbolicPeriodTypes(context.Context, *commonsv1.ListSymbolicPeriodTypesRequest) (*commonsv1.SymbolicPeriodTypeList, error) {
	out := &commonsv1.SymbolicPeriodTypeList{}
	for _, t := range types() {
		out.Types = append(out.Types, &commonsv1.SymbolicPeriodType{Id: t, Name: t[:1] + strings.ToLower(t[1:])})
	}
	return out, nil
}

// ReadSymbolicPeriodsOfTypes returns the periods of each type.
func (h *Handler) ReadSymbolicPeriodsOfTypes(ctx context.Context, req *commonsv1.ReadSymbolicPeriodsOfTypesRequest) (*structpb.Struct, error) {
	out := map[string]any{}
	for _, id := range req.GetTypeIds() {
		of, err := typeNamed(id)
		if err != nil {
			return nil, err
		}
		found, err := h.list(ctx, of)
		if err != nil {
			return nil, err
		}
		list := make([]any, len(found.GetPeriods()))
		for i, p := range found.GetPeriods() {
			list[i] = map[string]any{
				"id": p.GetId(), "symbolicId": p.GetSymbolicId(), "name": p.GetName(), "type": p.GetType(), "periodTypeId": p.GetPeriodTypeId(),
				"sortOrder": p.GetSortOrder(), "typeSortOrder": p.GetTypeSortOrder(), "dateSpan": object(p.GetDateSpan()),
			}
		}
		out[of] = list
	}
	return structpb.NewStruct(out)
}

func object(s *commonsv1.SymbolicPeriodSpan) map[string]any {
	return map[string]any{"startDate": s.GetStartDate(), "endDate": s.GetEndDate(), "begin": s.GetBegin(), "end": s.GetEnd()}
}

// ReadSymbolicPeriod returns the days of one period.
func (h *Handler) ReadSymbolicPeriod(ctx context.Context, req *commonsv1.ReadSymbolicPeriodRequest) (*commonsv1.SymbolicPeriodSpan, error) {
	where := req.GetWhere()
	asked := question{text: where.GetSymbolicPeriodId(), day: where.GetPayPeriodRequest().GetRefDate()}
	if ref := where.GetPayPeriodRequest().GetSymbolicPeriod(); asked.text == "" && ref != nil {
		if asked.text = ref.GetQualifier(); ref.Id != nil {
			asked.text = fmt.Sprint(ref.GetId())
		}
	}
	if asked.text == "" {
		return nil, fault.Invalid(CodeWhere, "where needs a symbolicPeriodId, or a payPeriodRequest with a symbolicPeriod.")
	}
	today, err := h.today(ctx, where)
	if err != nil {
		return nil, err
	}
	return asked.response(h.calendar, today)
}

// MultiReadSymbolicPeriods returns the days of several periods. The keys of the response are
// the requested texts.
func (h *Handler) MultiReadSymbolicPeriods(ctx context.Context, req *commonsv1.MultiReadSymbolicPeriodsRequest) (*structpb.Struct, error) {
	if err := fault.ExactlyOne(CodeWhere, "The request", "symbolicPeriodIds and symbolicRequestParams",
		len(req.GetSymbolicPeriodIds()) > 0, len(req.GetSymbolicRequestParams()) > 0); err != nil {
		return nil, err
	}
	var asked []question
	for _, text := range req.GetSymbolicPeriodIds() {
		asked = append(asked, question{text: text})
	}
	for _, p := range req.GetSymbolicRequestParams() {
		asked = append(asked, question{text: p.GetSymbolicPeriodId(), day: p.GetRefDate()})
	}
	today, err := h.today(ctx, req.GetWhere())
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	for _, q := range asked {
		found, err := q.response(h.calendar, today)
		if err != nil {
			return nil, err
		}
		out[q.text] = object(found)
	}
	return structpb.NewStruct(out)
}

// question is a request for a period, relative to day or, if day is empty, to today.
type question struct{ text, day string }

func (q question) response(c Calendar, today civil.Date) (*commonsv1.SymbolicPeriodSpan, error) {
	period, known := Named(q.text)
	if !known {
		return nil, unknownPeriodError(fmt.Sprintf("%q", q.text))
	}
	today, err := structure.DayOr("refDate", q.day, today)
	if err != nil {
		return nil, err
	}
	return span(period.Days(c, today)), nil
}

// today returns the present day of the subject in where.
func (h *Handler) today(ctx context.Context, where *commonsv1.SymbolicPeriodWhere) (civil.Date, error) {
	tenantID := tenant.Of(ctx)
	if err := fault.ExactlyOne(CodeWhere, "where", "currentUser, currentTenant, employeeId, locationId and personNumber",
		where.GetCurrentUser(), where.GetCurrentTenant(), where.GetEmployeeId() != 0, where.GetLocationId() != 0, where.GetPersonNumber() != ""); err != nil {
		return 0, err
	}
	switch {
	case where.GetCurrentUser():
		return h.callersToday(ctx)
	case where.GetEmployeeId() != 0 || where.GetPersonNumber() != "":
		return h.personsToday(ctx, where)
	case where.GetLocationId() != 0:
		var there bool
		if err := h.pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM location WHERE tenant_id = $1 AND id = $2)`,
			tenantID, where.GetLocationId()).Scan(&there); err != nil {
			return 0, err
		}
		if !there {
			return 0, fault.Invalid(CodeSubject, fmt.Sprintf("There is no location with the id %d.", where.GetLocationId()))
		}
	}
	return h.in(ctx, h.zone), nil
}

func (h *Handler) in(ctx context.Context, zone *time.Location) civil.Date {
	return civil.FromTime(clock.OfTenant(ctx, h.clock.Now()).In(zone))
}

// callersToday returns the present day of the caller, in the caller's time zone, or in the
// tenant's for a user without a person.
func (h *Handler) callersToday(ctx context.Context) (civil.Date, error) {
	caller, ok := authn.From(ctx)
	if !ok || caller.PersonID == 0 {
		return h.in(ctx, h.zone), nil
	}
	_, zone, err := h.person(ctx, caller.PersonID, "")
	return h.in(ctx, zone), err
}

// personsToday returns the present day of a person whom the caller may see.
func (h *Handler) personsToday(ctx context.Context, where *commonsv1.SymbolicPeriodWhere) (civil.Date, error) {
	visible, err := h.rules.Visible(ctx)
	if err != nil {
		return 0, err
	}
	id, zone, err := h.person(ctx, where.GetEmployeeId(), where.GetPersonNumber())
	if err != nil {
		return 0, err
	}
	if id != 0 && !visible.Has(id) {
		authn.NoteNotVisible(ctx)
		id = 0
	}
	if id == 0 {
		return 0, fault.Invalid(CodeSubject, "There is no such person.")
	}
	return h.in(ctx, zone), nil
}

// person returns the id and the time zone of a person, by id or, if the id is 0, by number.
// It returns the id 0 if the person does not exist.
func (h *Handler) person(ctx context.Context, id int64, number string) (int64, *time.Location, error) {
	tenantID := tenant.Of(ctx)
	var name string
	key, value := "id", any(id)
	if id == 0 {
		key, value = "person_number", number
	}
	err := h.pool.QueryRow(ctx, `SELECT id, time_zone FROM person WHERE tenant_id = $1 AND `+key+` = $2`,
		tenantID, value).Scan(&id, &name)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, h.zone, nil
	}
	if err != nil {
		return 0, h.zone, err
	}
	zone, err := tzdb.Load(name)
	if err != nil {
		zone = h.zone
	}
	return id, zone, nil
}
