package upload

import (
	"mime"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxFileName is the longest name of a file, in bytes. File systems store no longer ones.
	maxFileName = 255
	// maxExtension is the longest extension that a shortened name keeps, in bytes.
	maxExtension = 16
	// noName is the name of a file without one.
	noName = "file"
	// octets is the media type of unknown bytes.
	octets = "application/octet-stream"
)

// FileName returns a name that is safe to store and to show: the last part of a path, without control characters,
// characters that change the direction of text, and characters that file systems reserve. It has 1 to 255 bytes of
// valid UTF-8, and neither begins nor ends with a dot or a space.
func FileName(sent string) string {
	name := sent[strings.LastIndexAny(sent, `/\`)+1:]
	name = strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune(`<>:"|?*`, r):
			return '_'
		case r == utf8.RuneError || !unicode.IsPrint(r):
			return -1
		}
		return r
	}, name)
	name = trimName(name)
	if len(name) > maxFileName {
		extension := path.Ext(name)
		if len(extension) > maxExtension {
			extension = ""
		}
		name = trimName(cutRunes(name, maxFileName-len(extension))) + extension
	}
	if name == "" {
		return noName
	}
	return name
}

func trimName(name string) string { return strings.Trim(name, " .") }

// cutRunes cuts a text to a number of bytes, or to some less so that no character is cut.
func cutRunes(text string, most int) string {
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// MediaType returns the media type of a content type in lower case and without parameters, or
// application/octet-stream if it has none. It is a claim of the client: services look at the content.
func MediaType(sent string) string {
	const most = 127 // RFC 6838, section 4.2, for each of its two parts.
	kind, _, err := mime.ParseMediaType(sent)
	if err != nil || len(kind) > 2*most || !strings.Contains(kind, "/") {
		return octets
	}
	return kind
}

// Disposition returns the Content-Disposition of a file that browsers store and do not show (RFC 6266). The name is
// made safe again, because it may come from elsewhere.
func Disposition(name string) string {
	name = FileName(name)
	ascii := strings.Map(func(r rune) rune {
		if r > '~' || r == '%' || r == ';' {
			return '_'
		}
		return r
	}, name)
	return `attachment; filename="` + ascii + `"; filename*=UTF-8''` + escapeExtended(name)
}

// escapeExtended escapes a text for a parameter with an asterisk (RFC 8187, section 3.2).
func escapeExtended(text string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(text) {
		switch c := text[i]; {
		case '0' <= c && c <= '9', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', strings.IndexByte("!#$&+-.^_`|~", c) >= 0:
			b.WriteByte(c)
		default:
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		}
	}
	return b.String()
}
