package application

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/pg"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/document"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
)

// OfCandidate returns the condition for the rows that belong to the applications of a candidate. The row
// has the column application_id.
func OfCandidate(candidateID string) record.Condition {
	return record.Condition{
		SQL:  "r.application_id IN (SELECT a.id FROM application a WHERE a.tenant_id = r.tenant_id AND a.candidate_id = @candidate)",
		Args: pgx.NamedArgs{"candidate": candidateID},
	}
}

// Of returns the condition for the rows that belong to an application. The row has the column
// application_id.
func Of(applicationID string) record.Condition {
	return record.Condition{SQL: "r.application_id = @application", Args: pgx.NamedArgs{"application": applicationID}}
}

func under(candidateID string) record.Condition {
	return record.Condition{SQL: "r.candidate_id = @candidate", Args: pgx.NamedArgs{"candidate": candidateID}}
}

// Export adds the applications of the candidate of an export, with their comments, events and documents.
func Export(ctx context.Context, db pg.Querier, out *recruitingv1.CandidateExport) error {
	list, err := Applications.All(ctx, db, under(out.GetCandidate().GetId()), "ORDER BY r.created_at, r.id")
	if err != nil {
		return err
	}
	for _, r := range list {
		e, err := export(ctx, db, r)
		if err != nil {
			return err
		}
		out.Applications = append(out.Applications, e)
	}
	return nil
}

func export(ctx context.Context, db pg.Querier, r *record.Record[*application]) (*recruitingv1.ApplicationExport, error) {
	out := &recruitingv1.ApplicationExport{}
	said, err := comments.All(ctx, db, Of(r.ID), "ORDER BY r.changed")
	if err != nil {
		return nil, err
	}
	for _, c := range said {
		out.Comments = append(out.Comments, showComment(r.ID, c))
	}
	moves, err := events.All(ctx, db, Of(r.ID), "ORDER BY r.changed")
	if err != nil {
		return nil, err
	}
	if out.DispositionEvents, err = showEvents(ctx, db, moves...); err != nil {
		return nil, err
	}
	if out.Documents, err = document.List(ctx, db, documentOwner(r)); err != nil {
		return nil, err
	}
	shown, err := show(ctx, db, r)
	if err != nil {
		return nil, err
	}
	out.Application = shown[0]
	return out, nil
}

// Erase removes the personal data of the applications of a candidate. For statistics, their references,
// steps and times remain, and the steps, reasons and authors of their events.
func Erase(ctx context.Context, tx pgx.Tx, candidateID string) error {
	none := func(string) record.Columns { return nil }
	if err := comments.DeleteAll(ctx, tx, OfCandidate(candidateID), none); err != nil {
		return err
	}
	if err := events.Rewrite(ctx, tx, OfCandidate(candidateID), keepEvent); err != nil {
		return err
	}
	return Applications.Rewrite(ctx, tx, under(candidateID), keep)
}

// keep returns what remains of an application after the erasure of its candidate.
func keep(a *application) *application {
	return &application{
		Candidate: &recruitingv1.ApplicationCandidate{Id: a.GetCandidate().GetId()}, Opportunity: a.GetOpportunity(), JobBoard: a.GetJobBoard(),
		JobPosting: a.GetJobPosting(), ApplicantSource: a.GetApplicantSource(), AppliedDate: a.GetAppliedDate(), IsProcessed: a.IsProcessed,
		CreationMethod: a.GetCreationMethod(), Step: a.GetStep(),
	}
}

// keepEvent returns what remains of an event.
func keepEvent(e *event) *event {
	return &event{
		Application: e.GetApplication(), OriginStep: e.GetOriginStep(), DestinationStep: e.GetDestinationStep(), DispositionReason: e.GetDispositionReason(),
		Author: e.GetAuthor(), IsImportant: e.GetIsImportant(),
	}
}
