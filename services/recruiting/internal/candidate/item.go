package candidate

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/emailaddress"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/setup"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/configuration"
)

// The largest numbers of items of lists. Comments are not a property of candidates.
const (
	maxItems    = 100
	maxComments = 2000
)

type (
	comment     = recruitingv1.CandidateComment
	behavior    = recruitingv1.CandidateBehavior
	education   = recruitingv1.CandidateEducation
	motivation  = recruitingv1.CandidateMotivation
	license     = recruitingv1.CandidateLicense
	skill       = recruitingv1.CandidateSkill
	reference   = recruitingv1.CandidateReference
	employment  = recruitingv1.CandidateWorkExperience
	monthOfYear = recruitingv1.CandidateMonth
)

// The lists of candidates.
var (
	comments       = list[*comment]{segment: "comments", max: maxComments, check: keylessCheck(checkComment)}
	behaviors      = list[*behavior]{segment: "behaviors", max: maxItems, check: refTo[*behavior](configuration.Behavior), refs: true}
	educations     = list[*education]{segment: "educations", max: maxItems, check: keylessCheck(checkEducation)}
	motivations    = list[*motivation]{segment: "motivations", max: maxItems, check: refTo[*motivation](configuration.Motivation), refs: true}
	licenses       = list[*license]{segment: "licenses", max: maxItems, check: keylessCheck(checkLicense)}
	skills         = list[*skill]{segment: "skills", max: maxItems, check: checkSkill}
	references     = list[*reference]{segment: "references", max: maxItems, check: keylessCheck(checkReference)}
	workExperience = list[*employment]{segment: "work-experience", max: maxItems, check: keylessCheck(checkEmployment)}
)

// keylessCheck returns the check of a list that may have equal items.
func keylessCheck[T any](check func(path string, item T) error) func(context.Context, pgx.Tx, string, T) (string, error) {
	return func(_ context.Context, _ pgx.Tx, path string, item T) (string, error) { return "", check(path, item) }
}

// refTo returns the check of a list of references to a kind of the configuration. Each object is there
// once.
func refTo[T setup.GUIDRef, O setup.Message](kind interface {
	Resolve(ctx context.Context, tx pgx.Tx, path string, ref setup.GUIDRef) (O, int64, error)
},
) func(context.Context, pgx.Tx, string, T) (string, error) {
	return func(ctx context.Context, tx pgx.Tx, path string, item T) (string, error) {
		if item.GetId() == "" && strings.TrimSpace(item.GetName()) == "" {
			return "", missing(path + "id")
		}
		_, _, err := kind.Resolve(ctx, tx, path+"id", item)
		return item.GetId(), err
	}
}

func checkComment(path string, c *comment) error { return requireText(path+"comment", c.GetComment()) }

func checkEducation(path string, e *education) error {
	var unnamed error
	if strings.TrimSpace(e.GetDegree()) == "" {
		unnamed = requireText(path+"school", e.GetSchool())
	}
	return fault.Join(unnamed, checkPeriod(path, e.GetFrom(), e.GetTo()))
}

func checkLicense(path string, l *license) error {
	err := requireText(path+"license.name", l.GetLicense().GetName())
	if l.GetRenewalDate() != "" && l.GetRenewalDate() < l.GetAchievedDate() {
		err = fault.Join(err, invalid(path+"renewal_date", "must not be before achieved_date."))
	}
	return err
}

// checkSkill checks a skill. The list has each name once, in any case.
func checkSkill(ctx context.Context, tx pgx.Tx, path string, s *skill) (key string, err error) {
	unnamed := requireText(path+"skill.name", s.GetSkill().GetName())
	if level := s.GetProficiencyLevel(); level != nil {
		found, _, err := configuration.ProficiencyLevel.Resolve(ctx, tx, path+"proficiency_level", level)
		if err != nil {
			return "", fault.Join(unnamed, err)
		}
		level.OrdinalValue = found.OrdinalValue
	}
	if unnamed != nil {
		return "", unnamed
	}
	return strings.ToLower(strings.TrimSpace(s.GetSkill().GetName())), nil
}

func checkReference(path string, r *reference) error {
	err := requireText(path+"name", r.GetName())
	if r.GetEmail() != "" && !emailaddress.Valid(r.GetEmail()) {
		err = fault.Join(err, invalid(path+"email", "must be an e-mail address."))
	}
	return err
}

func checkEmployment(path string, e *employment) error {
	return fault.Join(requireText(path+"job_title", e.GetJobTitle()), checkPeriod(path, e.GetFrom(), e.GetTo()))
}

// checkPeriod checks the first and the last month of a period. Both are optional. A year without a month
// is before its first month.
func checkPeriod(path string, from, to *monthOfYear) error {
	var errs []error
	if from != nil && from.Year == nil {
		errs = append(errs, missing(path+"from.year"))
	}
	if to != nil && to.Year == nil {
		errs = append(errs, missing(path+"to.year"))
	}
	switch {
	case len(errs) > 0:
		return fault.Join(errs...)
	case from == nil || to == nil || from.GetYear() < to.GetYear():
		return nil
	case from.GetYear() > to.GetYear() || from.Month != nil && to.Month != nil && from.GetMonth() > to.GetMonth():
		return invalid(path+"to", "must not be before from.")
	}
	return nil
}

// requireText returns an error if a text is blank.
func requireText(path, text string) error {
	if strings.TrimSpace(text) == "" {
		return missing(path)
	}
	return nil
}
