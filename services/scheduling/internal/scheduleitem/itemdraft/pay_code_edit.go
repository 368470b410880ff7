package itemdraft

import (
	"cmp"
	"net/http"
	"regexp"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/symbolicamount"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/storedrows"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemfault"
)

// PayCodeEdit checks a pay code edit of a request, and converts it to its stored form.
func PayCodeEdit(sent *schedulingv1.PayCodeEdit, employee *projection.Employee) (*Draft, error) {
	edit := proto.CloneOf(sent)
	if employee == nil {
		return nil, fault.Invalid(itemfault.CodeEmployeeMissing, "employee is missing.")
	}
	if !IsSet(edit.GetPayCodeRef()) {
		return nil, itemfault.InvalidEdit("payCodeRef", "must not be missing")
	}
	days, err := editDays(edit)
	if err != nil {
		return nil, err
	}
	if err := checkAmount(edit); err != nil {
		return nil, err
	}
	edit.StartDate, edit.EndDate = days.From.String(), days.To.AddDays(-1).String()
	edit.Id, edit.Employee, edit.Version = nil, nil, nil
	edit.Generated, edit.Deleted = proto.Bool(false), proto.Bool(false)
	edit.Locked = proto.Bool(edit.GetLocked())
	edit.Posted = proto.Bool(edit.GetPosted())
	edit.Relations = withoutPatternRelations(edit.GetRelations())
	clearPrimaryJobOfEdit(edit, employee.JobOn(days.From))
	body, err := Encode(edit)
	if err != nil {
		return nil, err
	}
	return &Draft{Employee: employee, From: days.From, To: days.To - 1, Occupies: days, Body: body}, nil
}

// clearPrimaryJobOfEdit removes the values of the primary job that responses add, in case the
// client sends them back. A value that a user entered stays, even if it is the primary job.
func clearPrimaryJobOfEdit(edit *schedulingv1.PayCodeEdit, path string) {
	if isPrimaryJob(edit.GetPosition(), path) {
		edit.Position = nil
	}
	if path != "" { // Otherwise a user entered these values.
		edit.PrimaryOrgJobRef, edit.TransferOrgJob = nil, nil
	}
	if isPrimaryJob(edit.GetOrgJobRef(), path) && edit.UserEnteredOrgJob != nil && !edit.GetUserEnteredOrgJob() {
		edit.OrgJobRef, edit.UserEnteredOrgJob = nil, nil
	}
}

// editDays parses the days of a pay code edit, including the last one. Without an end it has one
// day.
func editDays(edit *schedulingv1.PayCodeEdit) (civil.Range, error) {
	if edit.GetStartDate() == "" {
		return civil.Range{}, itemfault.InvalidEdit("startDate", "must not be missing")
	}
	first, err := editDate("startDate", edit.GetStartDate())
	if err != nil {
		return civil.Range{}, err
	}
	last, err := editDate("endDate", cmp.Or(edit.GetEndDate(), edit.GetStartDate()))
	if err != nil {
		return civil.Range{}, err
	}
	days := civil.Through(first, last)
	switch {
	case days.Empty():
		return civil.Range{}, itemfault.InvalidEdit("endDate", "must not be before startDate")
	case days.Days() > storedrows.MaxItemDays:
		return civil.Range{}, itemfault.InvalidEdit("endDate", "must not be more than %d days from startDate", storedrows.MaxItemDays)
	}
	return days, nil
}

func editDate(path, text string) (civil.Date, error) {
	d, err := civil.ParseDate(text)
	if err != nil {
		return 0, fault.Invalid(fault.CodeDate, path+": "+err.Error()+".")
	}
	if d < civil.Beginning || d >= civil.Forever {
		return 0, itemfault.InvalidEdit(path, "must be from %s and before %s", civil.Beginning, civil.Forever)
	}
	return d, nil
}

// maxDuration limits the duration of a pay code edit, in seconds.
const maxDuration = storedrows.MaxItemDays * civil.SecondsPerDay

// hoursAndMinutes matches a duration, which can be longer than a day.
var hoursAndMinutes = regexp.MustCompile(`^\d{1,4}:[0-5]\d$`)

// checkAmount checks that the edit has an amount: two times, a duration, an amount of money or a
// symbolic value.
func checkAmount(edit *schedulingv1.PayCodeEdit) error {
	for path, text := range fault.InOrder(map[string]*string{
		"startTime": &edit.StartTime, "endTime": &edit.EndTime, "unavailabilityStartTime": &edit.UnavailabilityStartTime,
	}) {
		if *text == "" {
			continue
		}
		at, err := civil.ParseTimeOfDay(*text)
		if err != nil {
			return fault.Invalid(fault.CodeTime, path+": "+err.Error()+".")
		}
		*text = at.String()
	}
	for path, text := range fault.InOrder(map[string]string{
		"durationInMinutes": edit.GetDurationInMinutes(), "unavailabilityInMinutes": edit.GetUnavailabilityInMinutes(),
		"unavailabilityAmount": edit.GetUnavailabilityAmount(),
	}) {
		if text != "" && !hoursAndMinutes.MatchString(text) {
			return fault.Newf(fault.CodeTime, http.StatusBadRequest, "%s: %.20q does not have the form HH:mm.", path, text)
		}
	}
	var amount *float64
	if money := edit.GetMoneyCurrencyAmount(); money != nil {
		amount = money.Amount
	}
	if !allFinite(edit.DurationInDays, edit.MoneyAmount, edit.OverrideAccrualAmount, amount) {
		return itemfault.InvalidEdit("Amounts", "must be numbers")
	}
	if edit.DurationInTime != nil && (edit.GetDurationInTime() < 0 || edit.GetDurationInTime() > maxDuration) {
		return itemfault.InvalidEdit("durationInTime", "must be 0 to %d seconds", maxDuration)
	}
	// The comparison is written so that it rejects NaN.
	if edit.DurationInDays != nil && !(edit.GetDurationInDays() >= 0 && edit.GetDurationInDays() <= storedrows.MaxItemDays) {
		return itemfault.InvalidEdit("durationInDays", "must be 0 to %d", storedrows.MaxItemDays)
	}
	switch id, name, ok := symbolicamount.Find(edit.GetSymbolicValueRef()); {
	case ok:
		edit.SymbolicValueRef = &commonv1.Ref{Id: proto.Int64(id), Qualifier: proto.String(name)}
	case symbolicamount.IsHours(edit.GetSymbolicValueRef()):
		edit.SymbolicValueRef = nil // The duration counts.
	}
	hasTimes := edit.GetStartTime() != "" && edit.GetEndTime() != ""
	hasAmount := edit.DurationInTime != nil || edit.DurationInDays != nil || edit.GetDurationInMinutes() != "" ||
		edit.MoneyAmount != nil || amount != nil || IsSet(edit.GetSymbolicValueRef())
	if !hasTimes && !hasAmount {
		return itemfault.InvalidEdit("A duration, an amount of money, or startTime with endTime", "must be given")
	}
	return nil
}
