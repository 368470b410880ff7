package patternassignment

import (
	"context"
	"fmt"
	"slices"

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
	"github.com/rotaloom/rotaloom/services/scheduling/internal/proposal"
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
func (s *Assignments) Create(ctx context.Context, inputs []*schedulingv1.GroupSchedulePatternCreate, options Options) (*CreateOutcome, error) {
	list := s.kind.readCreations(inputs)
	if err := s.complete(ctx, list, options.Partial); err != nil {
		return nil, err
	}
	outcome, propagationID, err := s.create(ctx, list, options)
	if err != nil {
		return nil, err
	}
	patterns := make([]*schedulingv1.SchedulePattern, len(inputs))
	for i, input := range inputs {
		patterns[i] = input.GetGroupSchedulePattern().GetSchedulePattern()
	}
	if err := s.deps.JobPaths.Warn(ctx, patterndefinition.PatternJobs(patterns...)); err != nil {
		return nil, err
	}
	s.await(ctx, propagationID, outcome.Successes())
	return outcome, propagation.SetLocation(ctx, propagationID)
}

// CreateOutcome has a result for each requested assignment.
type CreateOutcome = bulk.Outcome[*schedulingv1.GroupSchedulePatternCreate, *schedulingv1.GroupSchedulePatternResult]

// readCreations parses create operations. Each has its own error.
func (k *Kind) readCreations(inputs []*schedulingv1.GroupSchedulePatternCreate) []creation {
	list := make([]creation, len(inputs))
	for i, input := range inputs {
		list[i] = k.readCreation(i, input)
	}
	return list
}

// readCreation parses one create operation.
func (k *Kind) readCreation(i int, input *schedulingv1.GroupSchedulePatternCreate) creation {
	c := creation{path: fmt.Sprintf("%[1]sCreates[%[2]d].%[1]s", k.pattern, i), input: input}
	c.assignment, c.err = k.readAssignment(c.path, input.GetGroupSchedulePattern())
	c.assignment.override = input.GetOverride()
	return c
}

func (k *Kind) readAssignment(path string, g *schedulingv1.GroupSchedulePattern) (assignment, error) {
	if g == nil {
		return assignment{}, patterndefinition.Missing(path)
	}
	var errs []error
	if !patterndefinition.Named(g.GetGroupRef()) {
		errs = append(errs, patterndefinition.Missing(path+"."+k.ref))
	}
	days, err := k.readDays(path, g)
	errs = append(errs, err)
	if g.GetSchedulePattern() == nil {
		errs = append(errs, patterndefinition.Missing(path+".schedulePattern"))
	}
	return assignment{ofEmployee: k.ofEmployees, days: days, offset: g.GetStartDateOffset()}, fault.Join(errs...)
}

// readDays parses the dates of a new assignment.
func (k *Kind) readDays(path string, g *schedulingv1.GroupSchedulePattern) (days civil.Range, err error) {
	var badStart, badEnd error
	if g.GetStartDate() == "" {
		badStart = fault.Invalid(k.codeStart, path+".startDate is missing.").WithMembers(path + ".startDate")
	} else {
		days.From, badStart = parseDate(path+".startDate", g.GetStartDate())
	}
	days.To, badEnd = parseEnd(path+".endDate", g.GetEndDate())
	if badStart != nil || badEnd != nil {
		return days, fault.Join(badStart, badEnd)
	}
	return days, k.checkDays(path, days)
}

// complete finds the owners and templates of the create operations. Without partial, an error ends
// the request.
func (s *Assignments) complete(ctx context.Context, list []creation, partial bool) error {
	if err := s.joinReadErrors(list, partial); err != nil {
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
	if len(good) == 0 {
		rowvisibility.WritesForNobody(ctx) // All operations are refused, so nothing is written.
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
		if c.err = fault.Join(c.err, definitions[i].Err); c.err != nil {
			continue
		}
		c.assignment.ownerID, c.assignment.ownerName, c.assignment.inherits = owners[i].ID, owners[i].Name, owners[i].Inherits
		c.definition = definitions[i].Definition
		c.assignment.dayCount, c.assignment.entriesPerDay = c.definition.DayCount, c.definition.EntriesPerDay
		if c.assignment.anchor, err = cycleAnchor(c.definition.Pattern, c.assignment.days.From); err != nil {
			return err
		}
	}
	return joinErrors(list, partial)
}

// joinReadErrors returns the error that ends a request before any lookup, or nil. It adds the faults
// of the patterns, so that the caller learns of them together. With partial it adds them to the errors
// of the operations.
func (s *Assignments) joinReadErrors(list []creation, partial bool) error {
	failed := slices.ContainsFunc(list, func(c creation) bool { return c.err != nil })
	if !failed {
		return nil
	}
	first := joinErrors(list, partial)
	faults := make([]error, len(list))
	for i := range list {
		c := &list[i]
		if partial && c.err == nil {
			continue
		}
		pattern := c.input.GetGroupSchedulePattern().GetSchedulePattern()
		faults[i] = s.deps.Definitions.Faults(patterndefinition.Request{Path: c.path + ".schedulePattern", Pattern: pattern})
		c.err = fault.Join(c.err, faults[i])
	}
	if partial {
		return nil
	}
	return fault.Join(append([]error{first}, faults...)...)
}

// joinErrors returns the error that ends a request without partial success: the first one, with the
// faults of all create operations.
func joinErrors(list []creation, partial bool) error {
	if partial {
		return nil
	}
	errs := make([]error, len(list))
	for i := range list {
		errs[i] = list[i].err
	}
	return fault.Join(errs...)
}

// create stores the create operations without errors.
func (s *Assignments) create(ctx context.Context, list []creation, options Options) (*CreateOutcome, int64, error) {
	var outcome *CreateOutcome
	var propagationID int64
	err := pg.InTx(ctx, s.deps.Pool, func(ctx context.Context, tx pgx.Tx) error {
		if err := s.kind.lock.WaitEach(ctx, tx, createdOwners(list)); err != nil {
			return err
		}
		if err := proposal.Check(ctx, tx, options.Preview); err != nil {
			return err
		}
		d, err := s.decideCreate(ctx, tx, list)
		if err != nil {
			return err
		}
		if err := d.firstError(options.Partial); err != nil {
			return err
		}
		var described []*schedulingv1.GroupSchedulePatternResult
		if described, propagationID, err = s.finish(ctx, tx, d, options); err != nil {
			return err
		}
		outcome = &CreateOutcome{}
		for i := range list {
			if d.errs[i] != nil {
				outcome.Fail(list[i].input, fault.FromError(d.errs[i]))
				continue
			}
			outcome.Succeed(list[i].input, described[0])
			described = described[1:]
		}
		return nil
	})
	return outcome, propagationID, err
}

// createdDefinitions returns the patterns of the create operations without errors.
func createdDefinitions(list []creation) []*patterndefinition.Definition {
	var definitions []*patterndefinition.Definition
	for i := range list {
		if list[i].err == nil {
			definitions = append(definitions, list[i].definition)
		}
	}
	return definitions
}

// createdOwners returns the owners of the create operations without errors.
func createdOwners(list []creation) []int64 {
	var owners []int64
	for i := range list {
		if list[i].err == nil {
			owners = append(owners, list[i].assignment.ownerID)
		}
	}
	return owners
}

// decideCreate adds new assignments to the current ones. It writes nothing. To store the decision,
// callers must hold the locks of the owners.
func (s *Assignments) decideCreate(ctx context.Context, db pg.Querier, list []creation) (*decision, error) {
	window := civil.Range{From: civil.Forever, To: civil.Beginning}
	for i := range list {
		if c := &list[i]; c.err == nil {
			window = civil.Range{From: min(window.From, c.assignment.days.From), To: max(window.To, c.assignment.days.To)}
		}
	}
	owners := createdOwners(list)
	now, err := s.kind.current(ctx, db, owners, window)
	if err != nil {
		return nil, err
	}
	hired, err := s.kind.hireDates(ctx, db, owners)
	if err != nil {
		return nil, err
	}
	d := &decision{owners: owners, now: now, errs: make([]error, len(list))}
	layers := s.kind.layers(now, hired)
	if layers.patterns, err = s.deps.Definitions.Find(ctx, db, createdDefinitions(list)); err != nil {
		return nil, err
	}
	for i := range list {
		c := &list[i]
		if d.errs[i] = c.err; c.err != nil {
			continue
		}
		added := c.assignment
		if d.errs[i] = layers.add(c, &added); d.errs[i] == nil {
			d.edits = append(d.edits, edit{after: []assignment{added}, definition: c.definition})
		}
	}
	return d, nil
}
