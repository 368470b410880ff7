package errorbody

import (
	"net/http"
	"strconv"

	"github.com/rotaloom/rotaloom/gateway/transcode/jsontext"
	"github.com/rotaloom/rotaloom/pkg/fault"
)

// Values of "type" in an error item. The set is closed: a new status gets one of these.
const (
	itemInvalid    = 1 // The request is wrong.
	itemNotFound   = 2 // The object or the operation does not exist, or the caller may not see it.
	itemConflict   = 3 // The request does not fit the state of the object.
	itemPermission = 4 // The caller is unknown, or may not do this.
	itemLimit      = 5 // A limit of sizes or of rates is exceeded.
	itemServer     = 6 // The server failed, or is not available.
)

// itemType returns the type of the item of an error.
func itemType(status int) int {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return itemPermission
	case http.StatusNotFound, http.StatusGone:
		return itemNotFound
	case http.StatusConflict, http.StatusPreconditionFailed:
		return itemConflict
	case http.StatusRequestEntityTooLarge, http.StatusTooManyRequests:
		return itemLimit
	}
	if status >= http.StatusInternalServerError {
		return itemServer
	}
	return itemInvalid
}

// Items returns the body of an error as a list with one item, as the contract asks for some operations.
func Items(f *fault.Error) []byte {
	b := strconv.AppendInt([]byte(`[{"type":`), int64(itemType(f.Status)), 10)
	b = jsontext.AppendString(append(b, `,"message_code":`...), f.Code)
	b = append(b, `,"member_names":[`...)
	for i, member := range f.Members {
		if i > 0 {
			b = append(b, ',')
		}
		b = jsontext.AppendString(b, member)
	}
	b = jsontext.AppendString(append(b, `],"message":`...), f.Message)
	return append(b, "}]"...)
}
