package precondition

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/fault"
)

// Parse parses the lines of an If-Match header: entity tags, in one line or several, or an
// asterisk. Weak tags, and tags that are not versions, are well-formed and match nothing.
func Parse(lines []string) (Condition, *fault.Error) {
	var c Condition
	for rest := strings.Join(lines, ","); ; {
		rest = strings.TrimLeft(rest, " \t,")
		if rest == "" {
			break
		}
		if len(c.versions) == MaxTags {
			return Condition{}, fault.Invalid(fault.CodeValue, fmt.Sprintf("If-Match names more than %d entity tags. Send the ETag of the version that you have read.", MaxTags))
		}
		if after, ok := strings.CutPrefix(rest, "*"); ok {
			if c.Given() || strings.Trim(after, " \t,") != "" {
				return Condition{}, fault.Invalid(fault.CodeValue, "If-Match has * together with other values. Send either * or entity tags.")
			}
			return Condition{exists: true}, nil
		}
		version, after, ok := cutTag(rest)
		if !ok {
			return Condition{}, fault.Invalid(fault.CodeValue, `If-Match must be * or entity tags in quotes, such as "3" or "3", "4". Send an ETag as you have received it.`)
		}
		c.versions, rest = append(c.versions, version), after
	}
	if !c.Given() {
		return Condition{}, fault.Invalid(fault.CodeValue, `If-Match is empty. Send the ETag of the expected version, such as "3", or leave it out.`)
	}
	return c, nil
}

// cutTag parses the entity tag at the beginning of a text, and returns the rest of the text.
func cutTag(text string) (version int64, rest string, ok bool) {
	strong, weak := strings.CutPrefix(text, "W/")
	inner, ok := strings.CutPrefix(strong, `"`)
	if !ok {
		return 0, "", false
	}
	tag, rest, ok := strings.Cut(inner, `"`)
	if !ok || strings.ContainsFunc(tag, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return 0, "", false
	}
	rest = strings.TrimLeft(rest, " \t")
	if rest != "" && rest[0] != ',' {
		return 0, "", false
	}
	version, err := strconv.ParseInt(tag, 10, 64)
	if weak || err != nil || version <= 0 || strconv.FormatInt(version, 10) != tag {
		version = unknown
	}
	return version, rest, true
}
