package patternassignment

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation"
)

// creation is one create operation of a request during its processing.
type creation struct {
	path       string
	input      *schedulingv1.GroupSchedulePatternCreate
	assignment assignment
	definition *patterndefinition.Definition
	err        error
}

// Create assigns patterns to owners: all of them or, with partial success, the valid ones. It
// starts one propagation, and names it in the response.
func (s *Assignments) Create(ctx context.Context, inputs []*schedulingv1.GroupSchedulePatternCreate, partial bool) (*CreateOutcome, error) {
	list := make([]creation, len(inputs))
	for i, input := range inputs {
		list[i] = s.kind.readCreation(i, input)
	}
	if err := s.complete(ctx, list, partial); err != nil {
		return nil, err
	}
	outcome, propagationID, err := s.create(ctx, list, partial)
	if err != nil {
		return nil, err
	}
	return outcome, propagation.SetLocation(ctx, propagationID)
}

// CreateOutcome has a result for each requested assignment.
type CreateOutcome = bulk.Outcome[*schedulingv1.GroupSchedulePatternCreate, *schedulingv1.GroupSchedulePatternResult]

// readCreation parses one create operation.
func (k *Kind) readCreation(i int, input *schedulingv1.GroupSchedulePatternCreate) creation {
	c := creation{path: fmt.Sprintf("%[1]sCreates[%[2]d].%[1]s", k.pattern, i), input: input}
	c.assignment, c.err = k.readAssignment(c.path, input.GetGroupSchedulePattern())
	c.assignment.override = input.GetOverride()
	return c
}

func (k *Kind) readAssignment(path string, g *schedulingv1.GroupSchedulePattern) (assignment, error) {
	switch {
	case g == nil:
		return assignment{}, patterndefinition.Missing(path)
	case !patterndefinition.Named(g.GetGroupRef()):
		return assignment{}, patterndefinition.Missing(path + "." + k.ref)
	case g.GetStartDate() == "":
		return assignment{}, fault.Invalid(k.codeStart, path+".startDate is missing.")
	}
	from, err := parseDate(path+".startDate", g.GetStartDate())
	if err != nil {
		return assignment{}, err
	}
	to, err := parseEnd(path+".endDate", g.GetEndDate())
	if err != nil {
		return assignment{}, err
	}
	a := assignment{ofEmployee: k.ofEmployees, days: civil.Range{From: from, To: to}, offset: g.GetStartDateOffset()}
	if err := k.checkDays(path, a.days); err != nil {
		return assignment{}, err
	}
	if g.GetSchedulePattern() == nil {
		return assignment{}, patterndefinition.Missing(path + ".schedulePattern")
	}
	return a, nil
}

// complete finds the owners and templates of the create operations. Without partial, the first
// error ends the request.
func (s *Assignments) complete(ctx context.Context, list []creation, partial bool) error {
	if err := firstError(list, partial); err != nil {
		return err
	}
	var good []*creation
	var refs []*commonv1.Ref
	var patterns []patterndefinition.Request
	for i := range list {
		if c := &list[i]; c.err == nil {
			good = append(good, c)
			g := c.input.GetGroupSchedulePattern()
			refs = append(refs, g.GetGroupRef())
			patterns = append(patterns, patterndefinition.Request{Path: c.path + ".schedulePattern", Pattern: g.GetSchedulePattern()})
		}
	}
	owners, errs, err := s.FindOwners(rowvisibility.OnAnyDay(ctx), refs, partial)
	if err != nil {
		return err
	}
	visible, err := s.visibleOnDays(ctx)
	if err != nil {
		return err
	}
	definitions, err := s.deps.Definitions.Resolve(ctx, s.deps.Pool, patterns)
	if err != nil {
		return err
	}
	for i, c := range good {
		if c.err = errs[i]; c.err == nil && !visible.HasOn(owners[i].ID, c.assignment.days) {
			authn.NoteNotVisible(ctx)
			c.err = s.deps.Unknown(refs[i])
		}
		if c.err == nil {
			c.err = definitions[i].Err
		}
		if c.err != nil {
			continue
		}
		c.assignment.ownerID, c.assignment.ownerName, c.assignment.inherits = owners[i].ID, owners[i].Name, owners[i].Inherits
		c.definition = definitions[i].Definition
		c.assignment.dayCount, c.assignment.entriesPerDay = c.definition.DayCount, c.definition.EntriesPerDay
		if c.assignment.anchor, err = cycleAnchor(c.definition.Pattern, c.assignment.days.From); err != nil {
			return err
		}
	}
	return firstError(list, partial)
}

// firstError returns the error that ends a request without partial success.
func firstError(list []creation, partial bool) error {
	for i := range list {
		if list[i].err != nil && !partial {
			return list[i].err
		}
	}
	return nil
}

// create stores the create operations without errors.
func (s *Assignments) create(ctx context.Context, list []creation, partial bool) (*CreateOutcome, int64, error) {
	var outcome *CreateOutcome
	var propagationID int64
	err := pg.InTx(ctx, s.deps.Pool, func(ctx context.Context, tx pgx.Tx) error {
		now, edits, errs, at, err := s.insertIntoLayers(ctx, tx, list)
		if err != nil {
			return err
		}
		outcome = &CreateOutcome{}
		described, err := s.describe(ctx, tx, now, edits)
		if err != nil {
			return err
		}
		for i := range list {
			switch {
			case errs[i] == nil:
				outcome.Succeed(list[i].input, described[0])
				described = described[1:]
			case partial:
				outcome.Fail(list[i].input, fault.FromError(errs[i]))
			default:
				return errs[i]
			}
		}
		propagationID, err = s.kind.store(ctx, tx, at, edits)
		return err
	})
	return outcome, propagationID, err
}

// insertIntoLayers adds new assignments to the current ones. It returns the current assignments,
// the edits to store, an error for each create operation that failed, and the time of the change.
func (s *Assignments) insertIntoLayers(ctx context.Context, tx pgx.Tx, list []creation) ([]assignment, []edit, []error, time.Time, error) {
	errs := make([]error, len(list))
	var positions []int
	var edits []edit
	var owners []int64
	var definitions []*patterndefinition.Definition
	window := civil.Range{From: civil.Forever, To: civil.Beginning}
	for i := range list {
		c := &list[i]
		if errs[i] = c.err; c.err != nil {
			continue
		}
		positions = append(positions, i)
		edits = append(edits, edit{after: []assignment{c.assignment}})
		owners = append(owners, c.assignment.ownerID)
		definitions = append(definitions, c.definition)
		window = civil.Range{From: min(window.From, c.assignment.days.From), To: max(window.To, c.assignment.days.To)}
	}
	if err := s.kind.lock.WaitEach(ctx, tx, owners); err != nil {
		return nil, nil, nil, time.Time{}, err
	}
	now, err := s.kind.current(ctx, tx, owners, window)
	if err != nil {
		return nil, nil, nil, time.Time{}, err
	}
	at, err := number(ctx, tx, edits)
	if err != nil {
		return nil, nil, nil, time.Time{}, err
	}
	hired, err := s.kind.hireDates(ctx, tx, owners)
	if err != nil {
		return nil, nil, nil, time.Time{}, err
	}
	layers := s.kind.layers(now, hired)
	placed, used := edits[:0], definitions[:0]
	for k, i := range positions {
		added := &edits[k].after[0]
		if errs[i] = layers.add(list[i].path, added); errs[i] == nil {
			placed, used = append(placed, edits[k]), append(used, definitions[k])
		}
	}
	patternIDs, err := s.deps.Definitions.Put(ctx, tx, used)
	if err != nil {
		return nil, nil, nil, time.Time{}, err
	}
	for k, id := range patternIDs {
		placed[k].after[0].patternID = id
	}
	return now, placed, errs, at, nil
}
