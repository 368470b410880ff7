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

// Items returns the body of an error as a list of items, as the contract asks for some operations: one for each
// fault that was found, beginning with the error itself.
func (c Context) Items(f *fault.Error) []byte {
	b := c.appendItem([]byte{'['}, f.Status, f.Code, f.Message, f.Members)
	if all := f.Details.GetViolations(); len(all) > 1 {
		for _, v := range all[1:] {
			var members []string
			if v.GetPath() != "" {
				members = []string{v.GetPath()}
			}
			b = c.appendItem(append(b, ','), f.Status, v.GetErrorCode(), v.GetMessage(), members)
		}
	}
	return append(b, ']')
}

func (c Context) appendItem(b []byte, status int, code, message string, members []string) []byte {
	b = strconv.AppendInt(append(b, `{"type":`...), int64(itemType(status)), 10)
	b = jsontext.AppendString(append(b, `,"message_code":`...), code)
	b = append(b, `,"member_names":[`...)
	for i, member := range members {
		if i > 0 {
			b = append(b, ',')
		}
		b = jsontext.AppendString(b, member)
	}
	b = jsontext.AppendString(append(b, `],"message":`...), message)
	return append(c.appendTo(b, "help", code), '}')
}
