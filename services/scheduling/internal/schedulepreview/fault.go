// Package schedulepreview shows the effect that a change of patterns would have on schedules. It decides the
// change with the rules of package patternassignment, and computes the spans with the functions of
// the workers, without locks and without writing schedules. Only the request, its basis and a
// summary are stored.
package schedulepreview

import (
	"net/http"
	"time"

	"github.com/rotaloom/rotaloom/pkg/fault"
)

const (
	// codeStale (409): something that shapes the schedules has changed since the preview. Create a
	// new preview, and look at it.
	codeStale = "WRL-30621"
	// codeOtherRequest (422): the request is not the previewed one. Send the request of the preview,
	// or create a preview of this request.
	codeOtherRequest = "WRL-30622"
	// codeExpired (410): the preview is older than 15 minutes. Create a new preview.
	codeExpired = "WRL-30623"
	// codeApplied (409): the change of the preview was made before. Create a new preview for another
	// change.
	codeApplied = "WRL-30624"
	// codeUnknown (404): the user has no preview with this id. Use the id of a preview that you
	// created in the last 15 minutes.
	codeUnknown = "WRL-30625"
	// codeTooMany (429): the tenant has too many open previews. Wait until some of them expire.
	codeTooMany = "WRL-30626"
	// codeChoice (400): the preview has no change, or more than one. Send exactly one.
	codeChoice = "WRL-30627"
	// codeWindow (400): the window ends before it begins. Send a later endDate.
	codeWindow = "WRL-30628"
	// codeUnsettled (409): a change that was just made is still being settled. Send the request again
	// in a second.
	codeUnsettled = "WRL-30629"
)

const (
	// keep is how long a preview can be read and applied.
	keep = 15 * time.Minute
	// maxOpen limits the previews of a tenant that are neither applied nor expired.
	maxOpen = 100
	// defaultDays is the length of the window if the request names none.
	defaultDays = 28
	// batchEmployees is the number of employees that are computed at a time.
	batchEmployees = 1000
)

func staleFault() *fault.Error {
	return fault.Conflict(codeStale, "The schedules have changed since the preview. Create a new preview.")
}

func unsettledFault() *fault.Error {
	return fault.Conflict(codeUnsettled, "A change of the schedules is still being settled. Send the request again in a second.").WithRetryAfter(time.Second)
}

func expiredFault() *fault.Error {
	return fault.New(codeExpired, http.StatusGone, "The preview has expired. Create a new preview.")
}

func appliedFault() *fault.Error {
	return fault.Conflict(codeApplied, "The change of the preview has been made. A preview can be applied once.")
}
