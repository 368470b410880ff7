package upload_test

import (
	"bytes"
	"io"
	"mime"
	"mime/multipart"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/gateway/upload"
)

const head = "Content-Disposition: form-data; name=\"a\"\r\n"

func TestForms(t *testing.T) {
	t.Parallel()
	part := func(content string) upload.Part { return upload.Part{Name: "a", Content: []byte(content)} }
	for name, c := range map[string]struct {
		body string
		want []upload.Part
		err  error
	}{
		"no parts":                      {"--b--", nil, nil},
		"one part":                      {"--b\r\n" + head + "\r\nx\r\n--b--\r\n", []upload.Part{part("x")}, nil},
		"an empty part":                 {"--b\r\n" + head + "\r\n\r\n--b--", []upload.Part{part("")}, nil},
		"text around":                   {"before\r\n--b \t\r\n" + head + "\r\nx\r\n--b--after", []upload.Part{part("x")}, nil},
		"two parts":                     {"--b\r\n" + head + "\r\nx\r\n--b\r\n" + head + "\r\ny\r\n--b--", []upload.Part{part("x"), part("y")}, nil},
		"the boundary within a line":    {"--b\r\n" + head + "\r\nx\r\n--bx\r\n--by--b\r\n--b--", []upload.Part{part("x\r\n--bx\r\n--by--b")}, nil},
		"the name of a file":            {"--b\r\nContent-Disposition: form-data; name=a; filename=\"ä b.pdf\"\r\nContent-Type: x/y\r\n\r\nx\r\n--b--", []upload.Part{{Name: "a", FileName: "ä b.pdf", ContentType: "x/y", Content: []byte("x")}}, nil},
		"cut within the content":        {"--b\r\n" + head + "\r\nx", nil, upload.ErrIncomplete},
		"cut within the header":         {"--b\r\nContent-Dispo", nil, upload.ErrIncomplete},
		"cut after a boundary":          {"--b\r\n" + head + "\r\nx\r\n--b\r\n", nil, upload.ErrIncomplete},
		"cut before the end of a line":  {"--b", nil, upload.ErrIncomplete},
		"empty":                         {"", nil, upload.ErrMalformed},
		"another boundary":              {"--c\r\n" + head + "\r\nx\r\n--c--", nil, upload.ErrMalformed},
		"text behind the boundary":      {"--b x\r\n" + head + "\r\nx\r\n--b--", nil, upload.ErrMalformed},
		"no name":                       {"--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--", nil, upload.ErrMalformed},
		"no header":                     {"--b\r\n\r\nx\r\n--b--", nil, upload.ErrIncomplete},
		"another disposition":           {"--b\r\nContent-Disposition: attachment; name=a\r\n\r\nx\r\n--b--", nil, upload.ErrMalformed},
		"a name twice":                  {"--b\r\nContent-Disposition: form-data; name=a; name=b\r\n\r\nx\r\n--b--", nil, upload.ErrMalformed},
		"base64":                        {"--b\r\n" + head + "Content-Transfer-Encoding: base64\r\n\r\nx\r\n--b--", nil, upload.ErrMalformed},
		"a long header":                 {"--b\r\n" + head + "X: " + strings.Repeat("x", 9000) + "\r\n\r\nx\r\n--b--", nil, upload.ErrMalformed},
		"too many parts":                {strings.Repeat("--b\r\n"+head+"\r\nx\r\n", 101) + "--b--", nil, upload.ErrParts},
		"as many parts as are accepted": {strings.Repeat("--b\r\n"+head+"\r\nx\r\n", 100) + "--b--", repeatPart(part("x"), 100), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parts, err := upload.Parse([]byte(c.body), "b")
			require.ErrorIs(t, err, c.err)
			if c.err == nil {
				assert.Equal(t, c.want, parts)
			}
		})
	}
}

func repeatPart(part upload.Part, n int) (all []upload.Part) {
	for range n {
		all = append(all, part)
	}
	return all
}

func TestBoundary(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"x": "x", "": "", "x ": "", "x\r\ny": "", strings.Repeat("x", 70): strings.Repeat("x", 70), strings.Repeat("x", 71): "",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, want, upload.Boundary(map[string]string{"boundary": text}))
		})
	}
}

func TestFileName(t *testing.T) {
	t.Parallel()
	for sent, want := range map[string]string{
		"cv.pdf":                                "cv.pdf",
		"Lebenslauf Ä.pdf":                      "Lebenslauf Ä.pdf",
		"../../etc/passwd":                      "passwd",
		`C:\Users\Ada\cv.pdf`:                   "cv.pdf",
		"a/":                                    "file",
		"":                                      "file",
		"..":                                    "file",
		" .htaccess. ":                          "htaccess",
		"a\x00b\r\nc\u202efdp.exe\u200b":        "abcfdp.exe",
		"a\xffb.pdf":                            "ab.pdf",
		`a"b<c>:d|e?f*.pdf`:                     "a_b_c__d_e_f_.pdf",
		strings.Repeat("x", 300) + ".pdf":       strings.Repeat("x", 251) + ".pdf",
		strings.Repeat("ä", 200) + ".docx":      strings.Repeat("ä", 125) + ".docx",
		"a." + strings.Repeat("x", 300):         "a." + strings.Repeat("x", 253),
		strings.Repeat("😀", 100):                strings.Repeat("😀", 63),
		"x" + strings.Repeat(" ", 300) + ".pdf": "x.pdf",
	} {
		t.Run(sent, func(t *testing.T) {
			t.Parallel()
			got := upload.FileName(sent)
			assert.Equal(t, want, got)
			assert.Equal(t, got, upload.FileName(got), "a safe name stays")
		})
	}
}

func TestMediaType(t *testing.T) {
	t.Parallel()
	const unknown = "application/octet-stream"
	for sent, want := range map[string]string{
		"Image/PNG; x=y": "image/png", "": unknown, "png": unknown, "a/b c": unknown, "x/" + strings.Repeat("y", 300): unknown,
	} {
		t.Run(sent, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, want, upload.MediaType(sent))
		})
	}
}

func TestDisposition(t *testing.T) {
	t.Parallel()
	assert.Equal(t, `attachment; filename="CV _ 100_.pdf"; filename*=UTF-8''CV%20%C3%84%20100%25.pdf`, upload.Disposition("CV Ä 100%.pdf"))
	for _, name := range []string{"a.pdf", "Ä'(*).pdf", `x";y=z.html`, "😀", "a\r\nSet-Cookie: x"} {
		kind, params, err := mime.ParseMediaType(upload.Disposition(name))
		require.NoError(t, err, name)
		assert.Equal(t, "attachment", kind)
		assert.Equal(t, upload.FileName(name), params["filename"])
	}
}

// The standard library reads the same parts. It accepts some forms that are refused here.
func FuzzParse(f *testing.F) {
	f.Add([]byte("--b\r\n" + head + "\r\nx\r\n--b\r\n" + head + "Content-Type: x/y\r\n\r\n\r\n--b--"))
	f.Add([]byte("before\r\n--b\r\n" + head + "\r\nx\r\n--bx\r\n--b--"))
	f.Fuzz(func(t *testing.T, body []byte) {
		parts, err := upload.Parse(body, "b")
		if err != nil {
			return
		}
		theirs := multipart.NewReader(bytes.NewReader(body), "b")
		for _, ours := range parts {
			part, err := theirs.NextRawPart()
			if err != nil {
				return // For example, a preamble that looks like a boundary with other line ends.
			}
			content, err := io.ReadAll(part)
			if err != nil || bytes.Contains(body, []byte("\n--b")) && !bytes.Contains(body, []byte("\r\n--b")) {
				return
			}
			if !bytes.Equal(content, ours.Content) {
				require.Contains(t, string(body), "\n--b", "a boundary after a bare line feed counts there")
			}
			require.True(t, utf8.ValidString(upload.FileName(ours.FileName)))
		}
	})
}
