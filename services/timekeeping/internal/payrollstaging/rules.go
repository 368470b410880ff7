package payrollstaging

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/suggest"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

const (
	// CodeInvalid (400): a property of the request is missing or not allowed. The message names it.
	CodeInvalid = "WRL-20911"
	// CodeTooMany (413): the largest allowed number of runs is in progress. Try again when one has
	// ended.
	CodeTooMany = "WRL-20912"
	// CodeUsed (409): a run already has the executionId. Read the status of that run.
	CodeUsed = "WRL-20913"
	// CodeUnknown (404): no run or export has the id, or it has expired.
	CodeUnknown = "WRL-20914"
	// CodeCustomField (400): no person has a custom field with the name.
	CodeCustomField = "WRL-20915"
	// CodeEmployees (413): the run would stage more employees than are allowed.
	CodeEmployees = "WFP-90002"
	// CodeExported (409): the run was exported, so it cannot be cancelled. Start another run: it
	// stages the differences.
	CodeExported = "WRL-20919"
	// CodeCancelled (409): the run was cancelled, so it cannot be exported. Stage the time again
	// under another executionId.
	CodeCancelled = "WRL-20920"
	// CodeHiddenEmployees (403): the run has employees that the caller may not see, so the caller
	// cannot cancel it. Ask a user who sees all of them.
	CodeHiddenEmployees = "WRL-20921"
	// CodeNotStaged (200): in the details of a run: the employee could not be staged. Stage the
	// employee again under another executionId.
	CodeNotStaged = "WRL-20916"
)

// everyKind lists the kinds of rows of a run that leaves none out.
var everyKind = []Kind{Worked, PayCodeEdit, Correction, Earning}

const (
	// maxDays and maxEmployees are the limits of a run.
	maxDays, maxEmployees = 366, 50_000
	maxText               = 200
	// maxRuns is the maximum number of concurrent runs of a tenant.
	maxRuns = 3
)

func invalid(format string, args ...any) *fault.Error {
	return fault.Invalid(CodeInvalid, fmt.Sprintf(format, args...))
}

// rules select the time that a run stages.
type rules struct {
	days             civil.Range
	kinds            []Kind
	include, exclude []*commonv1.Ref
	payRules         []string
	onlySignedOff    bool
	onlyTerminated   bool
	customFields     []string
	message          *timekeepingv1.PayrollStagingRequest
}

// parse parses a request.
func parse(req *timekeepingv1.PayrollStagingRequest) (r rules, err error) {
	kept, _ := proto.Clone(req).(*timekeepingv1.PayrollStagingRequest)
	kept.Employees = nil
	r = rules{
		message: kept, include: req.GetIncludePayCodes(), exclude: req.GetExcludePayCodes(),
		onlySignedOff: req.IgnoreSignOff != nil && !req.GetIgnoreSignOff(), onlyTerminated: req.GetProcessTerminatedEmployeesOnly(),
	}
	if err := checkTexts(req); err != nil {
		return r, err
	}
	if r.days, err = parseDays(req.GetDateRange()); err != nil {
		return r, err
	}
	switch t := strings.ToLower(req.GetExportType()); t {
	case "", "payroll", "both":
	case "accrual":
		return r, invalid("exportType: accrual balances are not staged. Choose Payroll, or Both for the time alone.")
	default:
		return r, fault.Invalid(CodeInvalid, suggest.NotOneOf("exportType", req.GetExportType(), "Payroll", "Accrual", "Both"))
	}
	switch t := strings.ToLower(req.GetHistoricalCorrections()); t {
	case "", "included in totals":
		r.kinds = everyKind
	case "excluded in totals":
		r.kinds = []Kind{Worked, PayCodeEdit, Earning}
	case "correction only":
		r.kinds = []Kind{Correction}
	default:
		return r, fault.Invalid(CodeInvalid, suggest.NotOneOf("historicalCorrections", t, "Included in totals", "Excluded in totals", "Correction only"))
	}
	if err := r.groups(req.GetWhere()); err != nil {
		return r, err
	}
	r.customFields, err = customFields(req)
	return r, err
}

func checkTexts(req *timekeepingv1.PayrollStagingRequest) error {
	if strings.TrimSpace(req.GetExecutionId()) == "" || len(req.GetExecutionId()) > maxText {
		return invalid("executionId needs a text of at most %d characters.", maxText)
	}
	for name, text := range fault.InOrder(map[string]string{"customParameter1": req.GetCustomParameter1(), "customParameter2": req.GetCustomParameter2()}) {
		if len(text) > maxText {
			return invalid("%s has more than %d characters.", name, maxText)
		}
	}
	based, types := req.GetProcessBasedOn(), []string{"PRIMARY", "WORKED", "POSITION_ASSIGNMENT"}
	if t := based.GetType(); t != "" && !slices.Contains(types, t) {
		return fault.Invalid(CodeInvalid, suggest.NotOneOf("processBasedOn.type", t, types...))
	}
	if t := based.GetFilterBy(); t != "" && t != "JOB" {
		return invalid("processBasedOn.filterBy: time is rolled up by JOB only.")
	}
	for name, list := range fault.InOrder(map[string][]*commonv1.Ref{"includePayCodes": req.GetIncludePayCodes(), "excludePayCodes": req.GetExcludePayCodes()}) {
		for i, ref := range list {
			if ref.GetId() == 0 && ref.GetQualifier() == "" {
				return invalid("%s[%d] needs an id or a qualifier.", name, i)
			}
		}
	}
	return nil
}

// parseDays parses a range of days, including both dates.
func parseDays(r *timekeepingv1.PayrollDateRange) (days civil.Range, err error) {
	if r.GetStartDateTime() == "" || r.GetEndDateTime() == "" {
		return days, invalid("dateRange needs startDateTime and endDateTime.")
	}
	if days.From, err = civil.ParseDate(r.GetStartDateTime()[:10]); err == nil {
		days.To, err = civil.ParseDate(r.GetEndDateTime()[:10])
	}
	switch {
	case err != nil:
		return days, fault.Invalid(fault.CodeDate, "dateRange: "+err.Error()+".")
	case days.To < days.From:
		return days, invalid("dateRange: the end is before the start.")
	case days.From.AddDays(maxDays) <= days.To:
		return days, invalid("dateRange: a run stages at most %d days.", maxDays)
	}
	return days, nil
}

func (r *rules) groups(where *timekeepingv1.PayrollStagingWhere) error {
	for i, in := range where.GetEmployeeIn() {
		if len(in.GetPayGroup().GetPayRule()) == 0 {
			return invalid("where.employeeIn[%d].payGroup needs payRule.", i)
		}
		for j, ref := range in.GetPayGroup().GetPayRule() {
			if ref.GetQualifier() == "" {
				return invalid("where.employeeIn[%d].payGroup.payRule[%d] needs a qualifier, the name of a pay rule.", i, j)
			}
			r.payRules = append(r.payRules, strings.ToLower(ref.GetQualifier()))
		}
	}
	return nil
}

// customFields returns the names of custom fields. Each is a text or the qualifier of a ref.
func customFields(req *timekeepingv1.PayrollStagingRequest) (names []string, err error) {
	for i, v := range req.GetCustomFields() {
		name := cmp.Or(v.GetStringValue(), v.GetStructValue().GetFields()["qualifier"].GetStringValue())
		if name == "" || len(name) > maxText || strings.ContainsRune(name, 0) {
			return nil, invalid("customFields[%d] needs the name of a custom field of persons, or a reference with it as qualifier.", i)
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// chooses reports whether a run stages the employees of a pay rule.
func (r *rules) chooses(payRule string) bool {
	return len(r.payRules) == 0 || slices.Contains(r.payRules, strings.ToLower(payRule))
}

// span returns the days of a run.
func (r *rules) span() civil.Range { return civil.Through(r.days.From, r.days.To) }

// stagesEarnings reports whether a run stages imported earnings.
func (r *rules) stagesEarnings() bool { return slices.Contains(r.kinds, Earning) }

// settles returns the day before which a run has compared all changes of an employee, if it
// compared any day completely. If a run left out a pay code or a correction of some days, these
// days must be compared again.
func (r *rules) settles(b *book) civil.Date {
	next := r.span().To
	if len(r.include) > 0 || len(r.exclude) > 0 || len(r.kinds) < len(everyKind) {
		return civil.Beginning
	}
	if !r.onlySignedOff {
		return next
	}
	if slices.ContainsFunc(b.corrections, func(t Total) bool { return t.Date >= b.Open }) {
		return civil.Beginning
	}
	return min(next, b.Open)
}

// admits reports whether a run stages the pay code of a total. The total must have the current name
// of its pay code.
func (r *rules) admits(t Total) bool {
	is := func(ref *commonv1.Ref) bool {
		if ref.GetId() != 0 && t.PayCodeID != 0 {
			return ref.GetId() == t.PayCodeID
		}
		return strings.EqualFold(ref.GetQualifier(), t.PayCode)
	}
	return (len(r.include) == 0 || slices.ContainsFunc(r.include, is)) && !slices.ContainsFunc(r.exclude, is)
}
