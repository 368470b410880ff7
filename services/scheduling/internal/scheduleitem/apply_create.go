package scheduleitem

import (
	"context"
	"fmt"
	"regexp"
	"strconv"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/reflist"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/policy"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemdraft"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemfault"
)

// createdLimit limits the shifts that one request creates from one shift.
var createdLimit = policy.FindLimit[*schedulingv1.ApplyCreateShiftsRequest]("employees * days")

// ApplyCreateShifts creates shifts for several employees, jobs or days from one shift, a shift
// template or a range of hours. It creates all or none.
func (h *Shifts) ApplyCreateShifts(ctx context.Context, req *schedulingv1.ApplyCreateShiftsRequest) (*schedulingv1.CreatedShifts, error) {
	shifts, err := h.requestedShifts(ctx, req)
	if err != nil {
		return nil, err
	}
	out, err := h.shifts.Create(ctx, shifts, false)
	if err != nil {
		return nil, err
	}
	return &schedulingv1.CreatedShifts{Shifts: &schedulingv1.ShiftList{Shifts: out.Successes()}}, nil
}

// requestedShifts returns the shifts that a request describes.
func (h *Shifts) requestedShifts(ctx context.Context, req *schedulingv1.ApplyCreateShiftsRequest) ([]*schedulingv1.Shift, error) {
	copies, forEmployee, forJob := req.GetForEmployees(), req.GetFromPatternForEmployee(), req.GetFromPatternForJob()
	if err := fault.ExactlyOne(patterndefinition.CodeOnlyOne, "The request", "forEmployees, fromPatternForEmployee and fromPatternForJob",
		copies != nil, forEmployee != nil, forJob != nil); err != nil {
		return nil, err
	}
	switch {
	case copies != nil:
		return h.copyForEmployees(ctx, copies)
	case forEmployee != nil:
		where := forEmployee.GetWhere()
		shift, err := h.fromPattern(ctx, "fromPatternForEmployee", forEmployee.GetDo(), where.GetStartDate())
		if err != nil {
			return nil, err
		}
		refs, err := h.distinctEmployees(ctx, "fromPatternForEmployee.where.employeeRefs", where.GetEmployeeRefs())
		if err != nil {
			return nil, err
		}
		return copyFor(refs, shift, func(s *schedulingv1.Shift, ref *commonv1.Ref) { s.Employee = ref })
	default:
		where := forJob.GetWhere()
		shift, err := h.fromPattern(ctx, "fromPatternForJob", forJob.GetDo(), where.GetStartDate())
		if err != nil {
			return nil, err
		}
		refs, err := requireRefs("fromPatternForJob.where.jobRefs", where.GetJobRefs())
		if err != nil {
			return nil, err
		}
		return copyFor(refs, shift, func(s *schedulingv1.Shift, ref *commonv1.Ref) {
			for _, segment := range s.GetSegments() {
				segment.OrgJobRef = ref
			}
		})
	}
}

// copyFor returns a copy of a shift for each reference. assign puts the reference into the copy.
func copyFor(refs []*commonv1.Ref, shift *schedulingv1.Shift, assign func(*schedulingv1.Shift, *commonv1.Ref)) ([]*schedulingv1.Shift, error) {
	if err := createdLimit.Check(len(refs)); err != nil {
		return nil, err
	}
	out := make([]*schedulingv1.Shift, len(refs))
	for i, ref := range refs {
		out[i] = proto.CloneOf(shift)
		assign(out[i], ref)
	}
	return out, nil
}

// copyForEmployees returns the requested copies of a shift, by employee and day.
func (h *Shifts) copyForEmployees(ctx context.Context, req *schedulingv1.CreateShiftsForEmployees) ([]*schedulingv1.Shift, error) {
	const path = "forEmployees."
	shift := req.GetDo().GetShift()
	if shift == nil {
		return nil, fault.Invalid(itemfault.CodeMissing, path+"do.shift is missing.")
	}
	days := int32(1)
	if where := req.GetWhere(); where != nil && where.Days != nil {
		days = where.GetDays()
	}
	refs, err := h.distinctEmployees(ctx, path+"where.employeeRefs", req.GetWhere().GetEmployeeRefs())
	if err != nil {
		return nil, err
	}
	if err := createdLimit.Check(len(refs) * int(days)); err != nil {
		return nil, err
	}
	out := make([]*schedulingv1.Shift, 0, len(refs)*int(days))
	for _, ref := range refs {
		for day := range days {
			later := proto.CloneOf(shift)
			if err := moveShift(path+"do.shift.", later, day); err != nil {
				return nil, err
			}
			later.Id, later.Version, later.Employee = nil, nil, ref
			out = append(out, later)
		}
	}
	return out, nil
}

// moveShift moves a shift and its segments by a number of days.
func moveShift(path string, s *schedulingv1.Shift, days int32) error {
	texts := map[string]*string{path + "startDateTime": &s.StartDateTime, path + "endDateTime": &s.EndDateTime}
	for i, segment := range s.GetSegments() {
		at := fmt.Sprintf("%ssegments[%d].", path, i)
		texts[at+"startDateTime"], texts[at+"endDateTime"] = &segment.StartDateTime, &segment.EndDateTime
	}
	for at, text := range texts {
		t, err := itemdraft.ReadTime(at, *text)
		if err != nil {
			return err
		}
		t.Date = t.Date.AddDays(int(days))
		*text = t.String()
	}
	return nil
}

// distinctEmployees returns the references of a list without duplicate employees.
func (h *Shifts) distinctEmployees(ctx context.Context, path string, list *commonv1.RefList) ([]*commonv1.Ref, error) {
	refs, err := requireRefs(path, list)
	if err != nil {
		return nil, err
	}
	employees, err := h.shifts.Directory.Employees(ctx, refs)
	if err != nil {
		return nil, err
	}
	seen := make(map[int64]bool, len(refs))
	out := make([]*commonv1.Ref, 0, len(refs))
	for i, ref := range refs {
		if !seen[employees[i].ID] {
			seen[employees[i].ID] = true
			out = append(out, ref)
		}
	}
	return out, nil
}

// requireRefs returns the references of a list, which must use exactly one of its forms.
func requireRefs(path string, list *commonv1.RefList) ([]*commonv1.Ref, error) {
	refs, err := reflist.AtMostOne(patterndefinition.CodeOnlyOne, path, list)
	if err == nil && len(refs) == 0 {
		err = fault.Invalid(itemfault.CodeMissing, path+" is missing.")
	}
	return refs, err
}

// fromPattern returns the shift on a day that a range of hours or the name of a shift template
// describes.
func (h *Shifts) fromPattern(ctx context.Context, path string, do *schedulingv1.CreateShiftsFromPatternDo, startDate string) (*schedulingv1.Shift, error) {
	if do.GetPattern() == "" {
		return nil, fault.Invalid(itemfault.CodeMissing, path+".do.pattern is missing.")
	}
	if startDate == "" {
		return nil, fault.Invalid(itemfault.CodeMissing, path+".where.startDate is missing.")
	}
	day, err := civil.ParseDate(startDate)
	if err != nil {
		return nil, fault.Invalid(fault.CodeDate, path+".where.startDate: "+err.Error()+".")
	}
	if start, end, ok := hours(do.GetPattern()); ok {
		return &schedulingv1.Shift{
			StartDateTime: day.At(start).String(), EndDateTime: day.At(end).String(),
			Segments: []*schedulingv1.ShiftSegment{{StartDateTime: day.At(start).String(), EndDateTime: day.At(end).String()}},
		}, nil
	}
	found, err := h.templates.Find(ctx, h.shifts.Pool, nil, []string{do.GetPattern()})
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, patterndefinition.Unknown(path+".do.pattern", "shift template", &commonv1.Ref{Qualifier: &do.Pattern})
	}
	return fromTemplate(found[0], day)
}

// span matches a range of hours. A range that ends before its start ends on the next day.
var span = regexp.MustCompile(`^(\d{1,2})(?::([0-5]\d))?\s*-\s*(\d{1,2})(?::([0-5]\d))?$`)

// hours parses a range of hours as seconds after midnight.
func hours(text string) (start, end int32, ok bool) {
	match := span.FindStringSubmatch(text)
	if match == nil {
		return 0, 0, false
	}
	var seconds [2]int32
	for i := range seconds {
		hour, _ := strconv.Atoi(match[1+2*i])
		minute, _ := strconv.Atoi("0" + match[2+2*i])
		seconds[i] = int32(hour*3600 + minute*60)
		if seconds[i] > civil.SecondsPerDay {
			return 0, 0, false
		}
	}
	if seconds[1] <= seconds[0] {
		seconds[1] += civil.SecondsPerDay
	}
	return seconds[0], seconds[1], true
}

// fromTemplate returns the shift of a template on a day.
func fromTemplate(t *schedulingv1.ShiftTemplate, day civil.Date) (*schedulingv1.Shift, error) {
	s := &schedulingv1.Shift{
		StartDateTime: t.GetStartDateTime(), EndDateTime: t.GetEndDateTime(), Label: t.GetLabel(),
		Locked: t.Locked, CommentNotes: &schedulingv1.CommentNoteList{CommentNotes: t.GetCommentNotes()},
		Relations: []*schedulingv1.Relation{{
			Type: "FROM_SHIFTTEMPLATE_TO_SHIFT", Active: proto.Bool(true),
			From: &commonv1.Ref{Id: t.Id, Qualifier: proto.String(t.GetName())},
		}},
	}
	for _, from := range t.GetSegments() {
		segment := &schedulingv1.ShiftSegment{
			StartDateTime: from.GetStartDateTime(), EndDateTime: from.GetEndDateTime(),
			SegmentTypeRef: from.GetSegmentType(), OrgJobRef: from.GetOrgNode(), WorkruleRef: from.GetWorkRule(),
			CostCenter: from.GetCostCenter(), LaborCategories: from.GetLaborCategories(), TransferString: from.GetTransferString(),
			SkillCertProfileRefs: from.GetSegmentScProfiles(),
		}
		for _, tag := range from.GetSegmentTemplateTags() {
			segment.SegmentTags = append(segment.SegmentTags, &schedulingv1.SegmentTag{
				Id: tag.Id, Color: tag.GetColor(), TagDefinitionRef: tag.GetTagDefinitionRef(),
			})
		}
		s.Segments = append(s.Segments, segment)
	}
	return s, moveShift("", s, int32(day-patterndefinition.Anchor))
}
