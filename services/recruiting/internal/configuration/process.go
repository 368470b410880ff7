package configuration

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/fault"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
)

// minSteps is the smallest number of steps of a process: the beginning and the hire.
const minSteps = 2

// keepSteps checks the steps of a process, and gives ids to the new ones. The id is 0 for a new
// process.
func keepSteps(ctx context.Context, tx pgx.Tx, id int64, process *recruitingv1.RecruitingProcess) error {
	var stored []*recruitingv1.RecruitingStep
	if id != 0 {
		old, err := RecruitingProcess.GetForUpdate(ctx, tx, id)
		if err != nil {
			return err
		}
		stored = old.GetSteps()
	}
	var errs []error
	if len(process.GetSteps()) < minSteps {
		errs = append(errs, fault.Invalid(CodeMissing, fmt.Sprintf("steps needs at least %d steps: applications begin at the first one, and the hire leads to the last one.", minSteps)).
			WithMembers("steps"))
	}
	seen := map[string]bool{}
	for i, step := range process.GetSteps() {
		at, name := fmt.Sprintf("steps[%d]", i), strings.ToLower(step.GetName())
		switch {
		case strings.TrimSpace(name) == "":
			errs = append(errs, fault.Invalid(CodeMissing, at+".name is missing.").WithMembers(at+".name"))
		case seen[name]:
			errs = append(errs, fault.Invalid(CodeInvalid, fmt.Sprintf("%s repeats the name %q.", at, step.GetName())).WithMembers(at+".name"))
		}
		seen[name] = true
	}
	if len(errs) > 0 {
		return fault.Join(errs...)
	}
	return identifySteps(process, stored)
}

// identifySteps gives each step the id of the stored step with its id or its name, or a new id. It
// returns an error for an unknown or repeated id, and for a stored step that is missing.
func identifySteps(process *recruitingv1.RecruitingProcess, stored []*recruitingv1.RecruitingStep) error {
	byID, byName := map[string]bool{}, map[string]string{}
	for _, step := range stored {
		byID[step.GetId()], byName[strings.ToLower(step.GetName())] = true, step.GetId()
	}
	for i, step := range process.GetSteps() {
		if step.Id = strings.ToLower(step.GetId()); step.GetId() != "" && !byID[step.GetId()] {
			return fault.Invalid(CodeUnknown, fmt.Sprintf("The process has no step with the id %.40q (steps[%d]). Leave out the id of a new step.", step.GetId(), i)).
				WithMembers(fmt.Sprintf("steps[%d].id", i))
		}
		delete(byID, step.GetId())
	}
	for _, step := range process.GetSteps() {
		if step.GetId() != "" {
			continue
		}
		if id := byName[strings.ToLower(step.GetName())]; byID[id] {
			step.Id = id
			delete(byID, id)
			continue
		}
		step.Id = uuid.NewString()
	}
	for _, step := range stored {
		if byID[step.GetId()] {
			return fault.Invalid(CodeInvalid, fmt.Sprintf("The step %q cannot be removed, because applications may be at it. Send all steps, or create another process.", step.GetName())).
				WithMembers("steps")
		}
	}
	return nil
}
