package application

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/configuration"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/opportunity"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
)

type event = recruitingv1.DispositionEvent

// events is the table of disposition events. No operation reads one of them by its id.
var events = record.Table[*event]{Name: "disposition_event", What: "disposition event", Unknown: CodeUnknown}

// ListDispositionEvents returns a page of the events of an application.
func (h *Handler) ListDispositionEvents(ctx context.Context, req *recruitingv1.ListDispositionEventsRequest) (*recruitingv1.DispositionEventList, error) {
	a, err := Applications.Get(ctx, h.pool, req.GetId(), Visible(ctx))
	if err != nil {
		return nil, err
	}
	return h.listEvents(ctx, req, Of(a.ID))
}

// ListAllDispositionEvents returns a page of the events of all applications that the caller may see.
func (h *Handler) ListAllDispositionEvents(ctx context.Context, req *recruitingv1.ListAllDispositionEventsRequest) (*recruitingv1.DispositionEventList, error) {
	return h.listEvents(ctx, req, Visible(ctx))
}

func (h *Handler) listEvents(ctx context.Context, q record.Query, filter record.Condition) (*recruitingv1.DispositionEventList, error) {
	list, err := events.List(ctx, h.pool, q, filter)
	if err != nil {
		return nil, err
	}
	out, err := showEvents(ctx, h.pool, list...)
	return &recruitingv1.DispositionEventList{Items: out}, err
}

// CreateDispositionEvent moves an application along its recruiting process.
func (h *Handler) CreateDispositionEvent(ctx context.Context, req *recruitingv1.CreateDispositionEventRequest) (*event, error) {
	e := &event{
		OriginStep: req.GetBody().GetOriginStep(), DestinationStep: req.GetBody().GetDestinationStep(), DispositionReason: req.GetBody().GetDispositionReason(),
		IsImportant: req.GetBody().GetIsImportant(), Comment: req.GetBody().GetComment(),
	}
	var r *record.Record[*event]
	err := pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		a, err := Applications.Lock(ctx, tx, req.GetId(), Visible(ctx))
		if err != nil {
			return err
		}
		if a.Body.GetIsProcessed() {
			return fault.Conflict(CodeProcessed, "The candidate is hired, so the application stays as it is.")
		}
		steps, err := readSteps(ctx, tx, a.Body)
		if err != nil {
			return err
		}
		if err := checkMove(e, a.Body.GetStep().GetId(), steps); err != nil {
			return err
		}
		if e.GetDispositionReason() != nil {
			if _, _, err := configuration.DispositionReason.Resolve(ctx, tx, "disposition_reason", e.GetDispositionReason()); err != nil {
				return err
			}
		}
		r, err = Move(ctx, tx, a, e)
		return err
	})
	if err != nil {
		return nil, err
	}
	out, err := showEvents(ctx, h.pool, r)
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// Move stores an event of an application that tx has locked, and the application with its new step. Its
// changes of the application are stored too.
func Move(ctx context.Context, tx pgx.Tx, a *record.Record[*application], e *event) (*record.Record[*event], error) {
	e.Application, a.Body.Step = &recruitingv1.IdRef{Id: a.ID}, &ref{Id: e.GetDestinationStep().GetId()}
	if caller := record.Caller(ctx); caller != "" {
		e.Author = &recruitingv1.IdRef{Id: caller}
	}
	if _, err := Applications.Update(ctx, tx, a.ID, a.Body, nil); err != nil {
		return nil, err
	}
	columns := record.Columns{"application_id": a.ID, "opportunity_id": a.Body.GetOpportunity().GetId()}
	if board := a.Body.GetJobBoard(); board != nil {
		columns["job_board_id"] = board.GetId()
	}
	return events.Insert(ctx, tx, e, columns)
}

// MoveToEnd moves an application that tx has locked to the last step of its process, if it has one, and
// stores its changes.
func MoveToEnd(ctx context.Context, tx pgx.Tx, a *record.Record[*application]) error {
	steps, err := readSteps(ctx, tx, a.Body)
	if err != nil {
		return err
	}
	if len(steps) == 0 {
		_, err = Applications.Update(ctx, tx, a.ID, a.Body, nil)
		return err
	}
	_, err = Move(ctx, tx, a, &event{OriginStep: a.Body.GetStep(), DestinationStep: &ref{Id: steps[len(steps)-1].GetId()}})
	return err
}

// readSteps returns the steps of the recruiting process of an application, none without a process.
func readSteps(ctx context.Context, tx pgx.Tx, a *application) ([]*recruitingv1.RecruitingStep, error) {
	o, err := opportunity.Opportunities.Get(ctx, tx, a.GetOpportunity().GetId(), record.Condition{})
	if err != nil || o.Body.GetRecruitingProcess() == nil {
		return nil, err
	}
	process, _, err := configuration.RecruitingProcess.ResolveGUID(ctx, tx, "recruiting_process", o.Body.GetRecruitingProcess())
	return process.GetSteps(), err
}

// checkMove checks an event of an application at a present step, and writes the ids of the steps into it.
func checkMove(e *event, present string, steps []*recruitingv1.RecruitingStep) error {
	if len(steps) == 0 {
		return fault.Conflict(CodeStep, "The opportunity has no recruiting process, so the application has no steps.")
	}
	if origin := e.GetOriginStep(); origin != nil {
		from, err := findStep("origin_step", origin, steps)
		if err != nil {
			return err
		}
		if from.GetId() != present {
			return fault.Conflict(CodeStep, fmt.Sprintf("The application is no longer at the step %q. Read it again.", from.GetName())).WithMembers("origin_step")
		}
	}
	if e.GetDestinationStep() == nil {
		return missing("destination_step")
	}
	to, err := findStep("destination_step", e.GetDestinationStep(), steps)
	switch {
	case err != nil:
		return err
	case to == steps[len(steps)-1]:
		return invalid("destination_step", "must not be the last step. Only the hire leads to it.")
	case to.GetId() == present && e.GetDispositionReason() == nil:
		return invalid("destination_step", "is the present step. Name another one, or a disposition reason.")
	}
	e.OriginStep, e.DestinationStep = nil, &ref{Id: to.GetId()}
	if present != "" {
		e.OriginStep = &ref{Id: present}
	}
	return nil
}

// findStep returns the step that a reference names by its id or, in any case, by its name.
func findStep(path string, to *ref, steps []*recruitingv1.RecruitingStep) (*recruitingv1.RecruitingStep, error) {
	i := slices.IndexFunc(steps, func(step *recruitingv1.RecruitingStep) bool {
		if to.GetId() != "" {
			return strings.EqualFold(step.GetId(), to.GetId())
		}
		return strings.EqualFold(step.GetName(), to.GetName())
	})
	if i < 0 {
		return nil, fault.Invalid(CodeStepUnknown, "The recruiting process of the opportunity has no such step ("+path+").").WithMembers(path)
	}
	return steps[i], nil
}

// showEvents returns the events of records with the names of their steps and reasons.
func showEvents(ctx context.Context, db pg.Querier, list ...*record.Record[*event]) ([]*event, error) {
	var reasons []string
	out := make([]*event, len(list))
	for i, r := range list {
		out[i] = r.Show()
		if reason := out[i].GetDispositionReason(); reason != nil {
			reasons = append(reasons, reason.GetId())
		}
		out[i].Links = []*recruitingv1.Link{{Href: "/v1/recruiting/applications/" + out[i].GetApplication().GetId(), Rel: "application"}}
	}
	names, err := readNames(ctx, db, "disposition_reason", reasons)
	if err != nil {
		return nil, err
	}
	if err := addSteps(ctx, db, names); err != nil {
		return nil, err
	}
	for _, e := range out {
		name(names, e.GetOriginStep(), e.GetDestinationStep(), e.GetDispositionReason())
	}
	return out, nil
}
