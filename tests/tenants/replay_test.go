package tenants

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/rotaloom/rotaloom/tests/contract"
)

// nowhere replaces every id, name and secret of a tenant by one of the same form that does not
// exist.
type nowhere struct {
	names map[string]string
	next  int
}

var (
	digits  = regexp.MustCompile(`^\d+$`)
	uniques = regexp.MustCompile(`[0-9a-f]{16}-\d+`)
	// aUUID matches a UUID, with or without its last twelve digits.
	aUUID = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-([0-9a-f]{12})?)$`)
	aPath = regexp.MustCompile(`^/v\d/.*/(\d+)$`)
	// anInstant matches an instant, which belongs to no tenant.
	anInstant = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d`)
	// aQuery matches the path of a list of the effects of one request.
	aQuery = regexp.MustCompile(`^(/v\d/.*\?request_id=)(.+)$`)
)

// Ids of the owner lie in a range of their own, so that a response that shows one is recognised.
// Ids of other tenants lie above it. No object has firstUnusedID or a higher id.
const (
	ownedFrom     = 7_100_000
	ownedTo       = 7_199_999
	othersFrom    = 7_500_000
	firstUnusedID = 8_100_000_000_000_000
)

var (
	ids      = regexp.MustCompile(`\d{7,}`)
	ownedIDs = regexp.MustCompile(`\b71\d{5}\b`)
)

func (n *nowhere) replace(value string) string {
	if other, known := n.names[value]; known {
		return other
	}
	other := value
	switch {
	case digits.MatchString(value):
		n.next++
		other = fmt.Sprint(firstUnusedID + n.next)
	case aPath.MatchString(value):
		id := aPath.FindStringSubmatch(value)[1]
		other = strings.TrimSuffix(value, id) + n.replace(id)
	case aQuery.MatchString(value):
		parts := aQuery.FindStringSubmatch(value)
		other = parts[1] + n.replace(parts[2])
	case aUUID.MatchString(value):
		n.next++
		other = fmt.Sprintf("%08x", n.next) + aUUID.FindStringSubmatch(value)[1]
	case uniques.MatchString(value):
		other = uniques.ReplaceAllStringFunc(value, func(u string) string { return "f" + u[1:] })
	case anInstant.MatchString(value):
	case len(value) > 20: // a secret or a token
		other = strings.Repeat("z", len(value)-4) + fmt.Sprintf("%04d", len(n.names))
	}
	n.names[value] = other
	return other
}

// requestAs returns the request that a tenant sends in place of another: with its own credentials,
// and with the other's names of objects. A function may change each name.
func (m member) requestAs(asked contract.RecordedStep, operation *contract.Operation, each func(string) string) contract.RecordedStep {
	values := maps.Clone(asked.Values)
	for name, value := range values {
		values[name] = each(value)
	}
	if operation != nil && strings.Contains(operation.Name, "IdentityProviderService") {
		// An installation has each pair of issuer and audience only once, because it finds the tenant of
		// a token by them. So these are the only names that tenants share.
		values["unique"] = "of-" + m.host
	}
	maps.Copy(values, m.Values)
	asked.Values = values
	if strings.Contains(asked.Step.Header["Authorization"], "${") {
		// The replay does not test the caller of the request.
		asked.Step.Header = maps.Clone(asked.Step.Header)
		delete(asked.Step.Header, "Authorization")
	}
	return asked
}

// sendBoth sends both tenants' requests at the same time.
func (r *replayed) sendBoth(mine, theirs contract.RecordedStep) (got, want contract.Response) {
	r.t.Helper()
	var group errgroup.Group
	group.Go(func() (err error) {
		want, err = contract.Send(r.t.Context(), r.blank.Target, r.blank.host, theirs)
		return err
	})
	got, err := contract.Send(r.t.Context(), r.other.Target, r.other.host, mine)
	require.NoError(r.t, errors.Join(err, group.Wait()), mine.Step.Do)
	_, as := mine.Step.Header["Authorization"]
	for _, response := range []contract.Response{got, want} {
		// Otherwise the comparison would show nothing.
		require.True(r.t, response.Status != http.StatusUnauthorized || as || mine.Step.Anonymous, "%s: the caller is logged in", mine.Step.Do)
		require.NotEqual(r.t, http.StatusTooManyRequests, response.Status, mine.Step.Do)
		require.Less(r.t, response.Status, 500, "%s: %s", mine.Step.Do, response.Body)
	}
	return got, want
}

// complete reports whether all values that a step names are known.
func complete(asked contract.RecordedStep) bool {
	for _, name := range contract.Names(asked.Text()) {
		if _, known := asked.Values[name]; !known && name != "token" {
			return false
		}
	}
	return true
}

// replayed compares two tenants whose requests differ only in the names of objects.
type replayed struct {
	t *testing.T
	// other uses the names of the owner's objects, and blank uses names that do not exist.
	other, blank member
	nowhere      *nowhere
	operations   []*contract.Operation
	tried        map[*contract.Route]bool
	// sentPayCodes holds the pay codes of the owner that other has written, by id. Schedules show them as they were sent.
	sentPayCodes map[string]bool
	// seenNames holds the names of the owner that other has already sent.
	seenNames   map[string]bool
	differences int
	// forwards says that tenants also read the objects that they have created themselves.
	forwards bool
}

// replay lets one tenant send every request of the owner with the owner's ids and names, and
// another tenant the same requests with ids and names that do not exist. Both must get the same
// response, which contains no data of the owner.
func replay(t *testing.T, owned []contract.RecordedStep, other, blank member) {
	t.Helper()
	r := &replayed{
		t: t, other: other, blank: blank, nowhere: &nowhere{names: map[string]string{}},
		operations: contract.Operations(), tried: map[*contract.Route]bool{}, seenNames: map[string]bool{}, sentPayCodes: map[string]bool{},
	}
	// Backwards, names mean the owner's objects; forwards, the tenants have created their own by then.
	for _, asked := range slices.Backward(owned) {
		r.send(asked)
	}
	r.forwards = true
	for _, asked := range owned {
		if asked.Step.Status < 400 {
			r.send(asked)
		}
	}
	for _, o := range r.operations {
		for _, route := range o.Routes {
			assert.True(t, r.tried[route], "%s of %s was not tried with what another tenant has: it needs a contract case that makes one before it deletes any", route, o.Name)
		}
	}
}

func (r *replayed) send(asked contract.RecordedStep) {
	r.t.Helper()
	if !complete(asked) {
		return
	}
	operation, route := asked.Called(r.operations)
	r.tried[route] = true
	mine := r.other.requestAs(asked, operation, func(value string) string { return value })
	theirs := r.blank.requestAs(asked, operation, r.nowhere.replace)
	for _, u := range uniques.FindAllString(mine.Filled(), -1) {
		r.seenNames[u] = true
	}
	for _, match := range sentPayCode.FindAllStringSubmatch(mine.Filled(), -1) {
		r.sentPayCodes[match[1]] = true
	}
	what := fmt.Sprintf("%s: %s: %s", asked.Case, asked.Step.It, asked.Step.Do)
	var got, want contract.Response
	difference := ""
	// Earlier requests may take a moment until they are applied.
	for deadline := time.Now().Add(waitTimeout); ; time.Sleep(look) {
		got, want = r.sendBoth(mine, theirs)
		difference = r.compare(got, want, asked)
		if got.Status == want.Status && r.ownTime(operation) {
			difference = ""
		}
		if hasCursor(asked) {
			difference = ""
		}
		if difference == "" || !reads(asked.Step) || time.Now().After(deadline) {
			break
		}
	}
	r.assertNoLeaks(what, mine, got)
	if r.ownsID(asked) && asked.Step.Status < 400 {
		assert.GreaterOrEqual(r.t, got.Status, 400, "%s: %s", what, got.Body)
		if !strings.HasPrefix(asked.Step.Do, "P") && !notFound400[operation.Name] {
			want := http.StatusNotFound
			if onlyItself[operation.Name] {
				want = http.StatusForbidden
			}
			assert.Equal(r.t, want, got.Status, "%s: %s", what, got.Body)
		}
	}
	if operation != nil && operation.Name == "rotaloom.auth.v1.TokenService.RevokeToken" {
		// Callers that have a token may learn that it is valid.
		assert.Contains(r.t, []int{200, 400, 401}, got.Status)
		return
	}
	if difference != "" {
		r.differences++
		assert.Fail(r.t, "the responses differ", "%s: %s\nnames of another tenant: %d %.1500s\nunused names:          %d %.1500s",
			what, difference, got.Status, got.Body, want.Status, want.Body)
	}
	require.Less(r.t, r.differences, 40)
}

// ownTime reports whether the response of an operation depends on when each tenant sent its
// request. Schedules result from changes that are applied one after another, with others in
// between. The audit log has one row for each window of seconds with a refusal. The response to the start of
// an export shows whether the export has ended already.
func (r *replayed) ownTime(o *contract.Operation) bool {
	if o == nil {
		return false
	}
	switch o.Name {
	case "rotaloom.platform.v1.AuditEventService.ReadAuditEvents", "rotaloom.timekeeping.v1.PayrollExportService.ExportPayroll":
		return true
	}
	return r.forwards && strings.HasPrefix(o.Name, "rotaloom.scheduling.")
}

// cursorOfPage finds a cursor of an earlier response in the body of a request.
var cursorOfPage = regexp.MustCompile(`"?after"?:\s*"?\$\{`)

// hasCursor reports whether a request has the cursor of an earlier one. A cursor belongs to a request with the same
// ids and names: with those that do not exist, it is refused. The first page of each list is compared.
func hasCursor(asked contract.RecordedStep) bool { return cursorOfPage.MatchString(asked.Text()) }

const (
	// waitTimeout bounds how long two responses may differ, and look is the pause between two
	// comparisons.
	waitTimeout = 20 * time.Second
	look        = 50 * time.Millisecond
)

// notFound400 lists the operations that return 400 for a missing object by their contract.
var notFound400 = map[string]bool{
	"rotaloom.scheduling.v1.ShiftService.GetShift": true, "rotaloom.commons.v1.PersonService.GetPerson": true,
	"rotaloom.commons.v1.PersonService.DeletePerson": true, "rotaloom.commons.v1.NewHireService.GetNewHire": true,
	"rotaloom.platform.v1.MessagingService.GetMessagingNotification":      true,
	"rotaloom.scheduling.v1.ScheduleRuleSetService.DeleteScheduleRuleSet": true,
}

// onlyItself lists the operations that only the object in their path may call, such as a device. All other
// callers get 403, whether the object exists or not.
var onlyItself = map[string]bool{"rotaloom.udm.v1.DeviceClientService.ListDeviceEmployees": true}

// reads reports whether a step can be repeated.
func reads(step contract.Step) bool {
	return strings.HasPrefix(step.Do, "GET ") || strings.Contains(step.Do, "read") || strings.Contains(step.Do, "execute")
}

var (
	sentPayCode  = regexp.MustCompile(`payCodeRef:map\[id:(\d+)`)
	shownPayCode = regexp.MustCompile(`"payCodeRef":\{"id":(\d+)`)
)

// assertNoLeaks requires that a response contains no data that only the owner knows.
func (r *replayed) assertNoLeaks(what string, asked contract.RecordedStep, got contract.Response) {
	r.t.Helper()
	body := shownPayCode.ReplaceAllStringFunc(string(got.Body), func(ref string) string {
		if r.sentPayCodes[shownPayCode.FindStringSubmatch(ref)[1]] {
			return ""
		}
		return ref
	})
	for _, u := range uniques.FindAllString(body, -1) {
		assert.True(r.t, r.seenNames[u], "%s: shows the name %s of another tenant", what, u)
	}
	sent := asked.Filled()
	for _, id := range ownedIDs.FindAllString(body+got.Header.Get("Content-Location"), -1) {
		at := strings.Index(body, id)
		assert.Contains(r.t, sent, id, "%s: shows an id of another tenant: %s", what, body[max(at-500, 0):min(at+100, len(body))])
	}
}

// ownsID reports whether the path of a step has the id of an object that the owner created.
func (r *replayed) ownsID(asked contract.RecordedStep) bool {
	path, _, _ := strings.Cut(asked.Step.Do, "?")
	for _, name := range contract.Names(path) {
		if digits.MatchString(asked.Values[name]) {
			return true
		}
	}
	return false
}

// compare describes where two responses differ, except in the names of objects and in values that
// the server chose. It returns "" for equal responses.
func (r *replayed) compare(got, want contract.Response, asked contract.RecordedStep) string {
	if got.Status != want.Status {
		return "the status"
	}
	if (got.Header.Get("Content-Location") == "") != (want.Header.Get("Content-Location") == "") {
		return "the header Content-Location"
	}
	mine := strings.ReplaceAll(string(got.Body), r.other.host, r.blank.host)
	text := string(want.Body)
	for _, value := range asked.Values {
		if other := r.nowhere.names[value]; other != "" && other != value {
			text = strings.ReplaceAll(text, other, value)
		}
	}
	// Lists also have the names of other cases.
	text = uniques.ReplaceAllStringFunc(text, func(u string) string {
		if u[0] == 'f' {
			return "1" + u[1:]
		}
		return u
	})
	mine, text = linked.ReplaceAllString(mine, "$1"), linked.ReplaceAllString(text, "$1")
	a, isJSON := readValues(mine)
	b, alsoJSON := readValues(text)
	if !isJSON || !alsoJSON {
		if mine != text {
			return "the body"
		}
		return ""
	}
	return differ("", "", a, b)
}

// readValues returns the JSON values of a body: one, or one in each line. It returns false if the body has others.
func readValues(body string) (values []any, ok bool) {
	for decoder := json.NewDecoder(strings.NewReader(body)); ; {
		var v any
		switch err := decoder.Decode(&v); {
		case errors.Is(err, io.EOF):
			return values, true
		case err != nil:
			return nil, false
		}
		values = append(values, v)
	}
}

var (
	// chosen matches members whose values come from the server or a clock.
	chosen = regexp.MustCompile(`(?i)(token|secret|^x|kid|^next|requestId|remaining|objects|persistentId|sdmKey)$`)
	random = regexp.MustCompile(`^([A-Z2-7]{26}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$`)
	// linked matches the path of an object with a GUID, in links.
	linked = regexp.MustCompile(`(/v\d/[a-z/-]+/)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	times  = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d`)
)

func differ(path, key string, a, b any) string {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return path
		}
		for _, k := range slices.Sorted(maps.Keys(a)) {
			if _, there := b[k]; !there {
				return path + "." + k
			}
			if d := differ(path+"."+k, k, a[k], b[k]); d != "" {
				return d
			}
		}
		return ""
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return path + ": the number of elements"
		}
		for i := range a {
			if d := differ(fmt.Sprintf("%s[%d]", path, i), key, a[i], b[i]); d != "" {
				return d
			}
		}
		return ""
	case float64:
		// Ids come from sequences that all tenants share.
		if b, number := b.(float64); number && (chosen.MatchString(key) || a >= ownedFrom && b >= ownedFrom) {
			return ""
		}
	case string:
		if b, ok := b.(string); ok && (chosen.MatchString(key) || times.MatchString(a) && times.MatchString(b) ||
			random.MatchString(a) && random.MatchString(b) ||
			ids.ReplaceAllString(a, "#") == ids.ReplaceAllString(b, "#")) {
			return ""
		}
	}
	if a != b {
		return fmt.Sprintf("%s: %v and %v", path, a, b)
	}
	return ""
}
