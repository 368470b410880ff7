// Package tagdefinition manages tag definitions: the allowed content of tags of schedules, shift
// segments and employees.
package tagdefinition

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/setup"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// Error codes of the specification.
const (
	// CodeUnknown (400, 404): there is no tag definition with the id.
	CodeUnknown = "WFS-101704"
	// CodeUnknownName (400, 404): there is no tag definition with the name.
	CodeUnknownName = "WFS-101705"
)

// Error codes of our own, with status 400.
const (
	// CodeInvalid: a property has a value that is not allowed.
	CodeInvalid = "WRL-30901"
	// CodeMissing: a required value is missing.
	CodeMissing = "WRL-30902"
	// CodeTaken: another tag definition has the name. Choose another name.
	CodeTaken = "WRL-30903"
	// CodeOtherID: the id in the body differs from the id in the path.
	CodeOtherID = "WRL-30904"
	// CodeInUse: schedules, patterns or templates refer to the definition to delete. Change or delete them first.
	CodeInUse = "WRL-30905"
)

// The kinds of tags that a definition can be for.
const (
	ContextEmployee = "EMPLOYEE"
	ContextSchedule = "SCHEDULE"
	ContextSegment  = "SEGMENT"
)

var contexts = []string{ContextEmployee, ContextSchedule, ContextSegment}

// The values of a constraint.
const (
	Required     = "REQUIRED"
	Optional     = "OPTIONAL"
	NotSupported = "NOT_SUPPORTED"
)

var constraints = []string{Required, Optional, NotSupported}

// Kind returns the declaration of tag definitions.
func Kind() *setup.Kind[*schedulingv1.TagDefinition] {
	return setup.NewKind(setup.Declaration[*schedulingv1.TagDefinition]{
		Codes: setup.Codes{Missing: CodeMissing, Invalid: CodeInvalid, Taken: CodeTaken, Unknown: CodeUnknown, OtherID: CodeOtherID, InUse: CodeInUse},
		What:  "tag definition",
		Table: "tag_definition",
		Strip: func(d *schedulingv1.TagDefinition) { d.Deleted = nil },
		Fill:  func(d *schedulingv1.TagDefinition, _ int64) { d.Deleted = proto.Bool(false) },
	})
}

// prepare checks a tag definition, and sets the defaults.
func prepare(_ string, d *schedulingv1.TagDefinition) (*schedulingv1.TagDefinition, error) {
	if err := prepareConstraint("commentsConstraint", &d.CommentsConstraint); err != nil {
		return nil, err
	}
	d.ColorOverridable, d.VisibleToEmployees = proto.Bool(d.GetColorOverridable()), proto.Bool(d.GetVisibleToEmployees())
	if err := prepareContexts(d); err != nil {
		return nil, err
	}
	return d, prepareScheduleTags(d.GetScheduleContextAttributes())
}

// prepareContexts checks the contexts of the definition, and removes duplicates.
func prepareContexts(d *schedulingv1.TagDefinition) error {
	if len(d.GetAssignmentContexts()) == 0 {
		return fault.Invalid(CodeMissing, "assignmentContexts is missing. Name at least one of "+strings.Join(contexts, ", ")+".")
	}
	var distinct []*commonv1.Ref
	for i, ref := range d.GetAssignmentContexts() {
		name, err := parseContext(fmt.Sprintf("assignmentContexts[%d]", i), ref)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(distinct, func(r *commonv1.Ref) bool { return r.GetQualifier() == name }) {
			distinct = append(distinct, &commonv1.Ref{Qualifier: proto.String(name)})
		}
	}
	d.AssignmentContexts = distinct
	return nil
}

// parseContext returns the context of a reference. References have no ids, because the
// specification does not list them.
func parseContext(path string, ref *commonv1.Ref) (string, error) {
	if ref.Id != nil || !slices.Contains(contexts, ref.GetQualifier()) {
		return "", fault.Invalid(CodeInvalid, path+" must have one of the qualifiers "+strings.Join(contexts, ", ")+", and no id.")
	}
	return ref.GetQualifier(), nil
}

func prepareScheduleTags(a *schedulingv1.ScheduleTagAttributes) error {
	if a == nil {
		return nil
	}
	const at = "scheduleContextAttributes."
	for path, value := range fault.InOrder(map[string]*string{
		"costCentersConstraint": &a.CostCentersConstraint, "jobTransfersConstraint": &a.JobTransfersConstraint,
		"laborCategoriesConstraint": &a.LaborCategoriesConstraint, "workRulesConstraint": &a.WorkRulesConstraint,
	}) {
		if err := prepareConstraint(at+path, value); err != nil {
			return err
		}
	}
	for path, text := range fault.InOrder(map[string]*string{"defaultStartTime": &a.DefaultStartTime, "defaultEndTime": &a.DefaultEndTime}) {
		if *text == "" {
			continue
		}
		clock, err := civil.ParseTimeOfDay(*text)
		if err != nil {
			return fault.Invalid(fault.CodeTime, at+path+": "+err.Error()+".")
		}
		*text = clock.String()
	}
	if a.ImpactTotals == nil {
		a.ImpactTotals = proto.Bool(a.GetOnCall())
	}
	a.OnCall = proto.Bool(a.GetImpactTotals())
	return nil
}

// prepareConstraint sets the default of a constraint, and checks it.
func prepareConstraint(path string, value *string) error {
	*value = cmp.Or(*value, Optional)
	if !slices.Contains(constraints, *value) {
		return fault.Invalid(CodeInvalid, path+" must be one of "+strings.Join(constraints, ", ")+".")
	}
	return nil
}
