package openapi

import (
	"fmt"
	"strconv"
)

// describeAccess says who may call a route, and how much a request may ask for, because pages do not show extensions.
func (r *route) describeAccess(limits []Limit) string {
	text := "**Access:** an access token; no permission is needed."
	switch {
	case r.policy.GetPublic():
		text = "**Access:** no access token is needed."
	case r.policy.GetPermission() != "":
		text = "**Access:** the permission " + r.policy.GetPermission() + "."
	}
	for _, limit := range limits {
		if limit.Quantity != "" {
			text += fmt.Sprintf(" At most %s %s in a request (%d, %s).", groupDigits(limit.Maximum), limit.Quantity, limit.Status, limit.ErrorCode)
		}
	}
	return text
}

// groupDigits writes a number as readers read it: "56,000".
func groupDigits(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
