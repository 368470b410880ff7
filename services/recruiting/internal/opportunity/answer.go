package opportunity

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
)

// Answer is the answer of an application to a screening question.
type Answer struct {
	// QuestionID is the GUID of the question.
	QuestionID string
	// Text is the response, for questions with the type Numeric a number.
	Text string
	// Type is the type of the question. Answered sets it.
	Type string
}

// maxAnswer is the largest number of characters of an answer.
const maxAnswer = 4000

// Answered checks the answers of a new application to the screening questions of an opportunity, which
// tx has locked or referred to, and keeps the answered questions from being replaced. The path is the
// position of the answers in the request. If a required question lacks an answer, or if an answer does
// not fit its question, the error has status 400.
func Answered(ctx context.Context, tx pgx.Tx, path, opportunityID string, answers []Answer) error {
	list, err := questions.All(ctx, tx, under(opportunityID), "ORDER BY r.number FOR NO KEY UPDATE OF r")
	if err != nil {
		return err
	}
	answered, err := checkAnswers(path, list, answers)
	if err != nil || len(answered) == 0 {
		return err
	}
	if _, err := tx.Exec(ctx, `UPDATE screening_question SET answered = true WHERE tenant_id = $1 AND id = ANY($2::uuid[]) AND NOT answered`, tenant.Of(ctx), answered); err != nil {
		return fmt.Errorf("mark screening questions as answered: %w", err)
	}
	return nil
}

// CountryAnswered checks the answers of a new application to the country questions of an opportunity. If a
// question lacks an answer, or if an answer does not fit its question, the error has status 400.
func CountryAnswered(ctx context.Context, tx pgx.Tx, path string, o *opportunity, answers []Answer) error {
	codes, err := countries(ctx, tx, o)
	if err != nil {
		return err
	}
	var list []*record.Record[*question]
	for _, q := range listQuestions(codes) {
		body := &question{Type: q.GetType(), Choices: q.GetChoices(), IsRequired: q.GetIsRequired(), IsActive: proto.Bool(true)}
		list = append(list, &record.Record[*question]{ID: q.GetId(), Body: body})
	}
	_, err = checkAnswers(path, list, answers)
	return err
}

// checkAnswers returns the ids of the answered questions, and sets the types of the answers.
func checkAnswers(path string, list []*record.Record[*question], answers []Answer) (ids []string, err error) {
	var errs []error
	for i, answer := range answers {
		at, id := fmt.Sprintf("%s[%d]", path, i), strings.ToLower(answer.QuestionID)
		n := slices.IndexFunc(list, func(r *record.Record[*question]) bool { return r.ID == id })
		switch {
		case n < 0 || !list[n].Body.GetIsActive():
			errs = append(errs, fault.Invalid(CodeQuestionUnknown, fmt.Sprintf("The opportunity has no active question with the id %.40q.", answer.QuestionID)).WithMembers(at+".question.id"))
			continue
		case slices.Contains(ids, id):
			errs = append(errs, fault.Invalid(CodeAnswer, at+" answers a question twice. Send one answer.").WithMembers(at+".question.id"))
			continue
		}
		if problem := answerProblem(list[n].Body, answer.Text); problem != "" {
			errs = append(errs, fault.Invalid(CodeAnswer, at+".response "+problem).WithMembers(at+".response"))
		}
		ids, answers[i].Type = append(ids, id), list[n].Body.GetType()
	}
	for _, r := range list {
		if r.Body.GetIsActive() && r.Body.GetIsRequired() && !slices.Contains(ids, r.ID) {
			errs = append(errs, fault.Invalid(CodeAnswer, fmt.Sprintf("The question %s needs an answer.", r.ID)).WithMembers(path))
		}
	}
	return ids, fault.Join(errs...)
}

// answerProblem returns the reason why an answer does not fit a question, or "".
func answerProblem(q *question, answer string) string {
	if strings.TrimSpace(answer) == "" {
		return "is missing. Send it."
	}
	switch q.GetType() {
	case multipleChoice:
		if !slices.Contains(q.GetChoices(), answer) {
			return "must be one of the choices of the question."
		}
	case numeric:
		if n, err := strconv.ParseFloat(answer, 64); err != nil || math.IsInf(n, 0) || math.IsNaN(n) {
			return "must be a number, such as 2.5."
		}
	default:
		if len([]rune(answer)) > maxAnswer {
			return fmt.Sprintf("must have at most %d characters.", maxAnswer)
		}
	}
	return ""
}

// Hired counts a hire for an opportunity that tx has locked: the head count falls by one, and the
// full-time equivalents by the given one. The opportunity closes when all positions are filled, unless
// its opening is continuous. If all positions are filled already, the error has the status 409. Call it
// after all other writes of tx.
func Hired(ctx context.Context, tx pgx.Tx, r *record.Record[*opportunity], equivalent float64, now time.Time) error {
	if err := hire(r.Body, equivalent, now); err != nil {
		return err
	}
	_, err := Opportunities.Update(ctx, tx, r.ID, r.Body, publication(r.Body))
	return err
}
