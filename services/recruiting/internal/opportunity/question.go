package opportunity

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
)

type question = recruitingv1.ScreeningQuestion

var questions = children[*question]{record.Table[*question]{Name: "screening_question", What: "screening question", Unknown: CodeQuestionUnknown}, "screening-questions"}

// The types of screening questions.
const (
	multipleChoice = "MultipleChoice"
	numeric        = "Numeric"
	text           = "Text"
)

// checkQuestion checks a question, and clears the properties that the product sets.
func checkQuestion(q *question) error {
	var errs []error
	if !hasText(q.GetQuestion()) {
		errs = append(errs, missing("question"))
	}
	seen := map[string]bool{}
	for i, choice := range q.GetChoices() {
		path := fmt.Sprintf("choices[%d]", i)
		switch {
		case strings.TrimSpace(choice) == "":
			errs = append(errs, missing(path))
		case seen[choice]:
			errs = append(errs, fault.Invalid(CodeInvalid, fmt.Sprintf("%s repeats the choice %q.", path, choice)).WithMembers(path))
		}
		seen[choice] = true
	}
	if err := fault.Join(append(errs, checkType(q))...); err != nil {
		return err
	}
	q.Id, q.CreatedAt, q.UpdatedAt, q.Links, q.IsActive = "", "", "", nil, proto.Bool(true)
	return nil
}

// checkType checks the type of a question, and whether it has choices if the type needs them.
func checkType(q *question) error {
	switch q.GetType() {
	case "":
		return missing("type")
	case multipleChoice:
		if len(q.GetChoices()) < 2 {
			return fault.Invalid(CodeInvalid, "A question with the type MultipleChoice needs at least two choices.").WithMembers("choices")
		}
	case numeric, text:
		if len(q.GetChoices()) > 0 {
			return fault.Invalid(CodeInvalid, "Only a question with the type MultipleChoice has choices.").WithMembers("choices")
		}
	default:
		return fault.Invalid(CodeInvalid, "type must be MultipleChoice, Numeric or Text.").WithMembers("type")
	}
	return nil
}

// ListScreeningQuestions returns the questions of an opportunity, also the inactive ones.
func (h *Handler) ListScreeningQuestions(ctx context.Context, req *byID) (*recruitingv1.ScreeningQuestionList, error) {
	list, err := questions.list(ctx, h, req)
	return &recruitingv1.ScreeningQuestionList{Items: list}, err
}

// CreateScreeningQuestion adds a question to an opportunity.
func (h *Handler) CreateScreeningQuestion(ctx context.Context, req *recruitingv1.CreateScreeningQuestionRequest) (*question, error) {
	q := orEmpty(req.GetBody())
	if err := checkQuestion(q); err != nil {
		return nil, err
	}
	return questions.create(ctx, h, req.GetId(), q, record.Columns{})
}

// UpdateScreeningQuestion replaces a question that no application has answered.
func (h *Handler) UpdateScreeningQuestion(ctx context.Context, req *recruitingv1.UpdateScreeningQuestionRequest) (*question, error) {
	q := orEmpty(req.GetBody())
	if err := checkQuestion(q); err != nil {
		return nil, err
	}
	return questions.change(ctx, h, req.GetId(), req.GetQuestionId(), func(ctx context.Context, tx pgx.Tx, stored *record.Record[*question]) (*question, record.Columns, error) {
		var answered bool
		err := tx.QueryRow(ctx, `SELECT answered FROM screening_question WHERE tenant_id = $1 AND id = $2`, tenant.Of(ctx), stored.ID).Scan(&answered)
		switch {
		case err != nil:
			return nil, nil, fmt.Errorf("read a screening question: %w", err)
		case answered:
			return nil, nil, fault.Conflict(CodeQuestionAnswered, "Applications have answered the screening question. Deactivate it, and create another one.")
		}
		q.IsActive = stored.Body.IsActive
		return q, nil, nil
	})
}

// DeactivateScreeningQuestion keeps new applications from answering a question.
func (h *Handler) DeactivateScreeningQuestion(ctx context.Context, req *recruitingv1.DeactivateScreeningQuestionRequest) (*question, error) {
	if req.GetIsActive() {
		return nil, fault.Invalid(CodeInvalid, "A screening question cannot be activated again. Create another one.").WithMembers("is_active")
	}
	return questions.change(ctx, h, req.GetId(), req.GetQuestionId(), func(_ context.Context, _ pgx.Tx, stored *record.Record[*question]) (*question, record.Columns, error) {
		stored.Body.IsActive = proto.Bool(false)
		return stored.Body, nil, nil
	})
}

// children are the records of a table that belong to opportunities. The segment is the last part of
// their path.
type children[T proto.Message] struct {
	record.Table[T]
	segment string
}

// under returns the condition for the records of an opportunity.
func under(opportunityID string) record.Condition {
	return record.Condition{SQL: "r.opportunity_id = @opportunity", Args: pgx.NamedArgs{"opportunity": opportunityID}}
}

func (c children[T]) show(opportunityID string, r *record.Record[T]) T {
	o := r.Show()
	href := "/v1/recruiting/opportunities/" + opportunityID + "/" + c.segment + "/" + r.ID
	setLinks(o, &recruitingv1.Link{Href: href, Rel: "self"})
	return o
}

func (c children[T]) list(ctx context.Context, h *Handler, req *byID) (out []T, err error) {
	parent, err := Opportunities.Get(ctx, h.pool, req.GetId(), Visible(ctx))
	if err != nil {
		return nil, err
	}
	list, err := c.All(ctx, h.pool, under(parent.ID), "ORDER BY r.number")
	for _, r := range list {
		out = append(out, c.show(parent.ID, r))
	}
	return out, err
}

// create adds a record to an opportunity that is not closed.
func (c children[T]) create(ctx context.Context, h *Handler, opportunityID string, body T, columns record.Columns) (out T, err error) {
	err = pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		parent, err := lockOpen(ctx, tx, opportunityID)
		if err != nil {
			return err
		}
		columns["opportunity_id"] = parent.ID
		r, err := c.Insert(ctx, tx, body, columns)
		if err != nil {
			return err
		}
		out = c.show(parent.ID, r)
		return nil
	})
	return out, err
}

// change replaces a record of an opportunity that is not closed.
func (c children[T]) change(ctx context.Context, h *Handler, opportunityID, id string,
	change func(context.Context, pgx.Tx, *record.Record[T]) (T, record.Columns, error),
) (out T, err error) {
	err = pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		parent, err := lockOpen(ctx, tx, opportunityID)
		if err != nil {
			return err
		}
		r, err := c.Lock(ctx, tx, id, under(parent.ID))
		if err != nil {
			return err
		}
		body, columns, err := change(ctx, tx, r)
		if err != nil {
			return err
		}
		if r, err = c.Update(ctx, tx, r.ID, body, columns); err != nil {
			return err
		}
		out = c.show(parent.ID, r)
		return nil
	})
	return out, err
}

// lockOpen locks an opportunity for a change of its questions or assessments. A closed opportunity
// stays as it is.
func lockOpen(ctx context.Context, tx pgx.Tx, id string) (*record.Record[*opportunity], error) {
	r, err := Opportunities.Lock(ctx, tx, id, Visible(ctx))
	if err == nil && r.Body.GetStatus() == Closed {
		err = fault.Conflict(CodeStatus, "The opportunity is closed. Its questions and assessments stay as they are.")
	}
	return r, err
}
