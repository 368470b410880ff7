package examples

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// firstAdministrator is the user that sends the requests of examples without a user.
const firstAdministrator = "admin"

// Collection returns the sent examples of a file in the format of HTTP clients such as httpYac. Each request can be
// sent alone: the client sends the requests that it refers to before it, if they have not been sent yet.
func (f *File) Collection() (string, error) {
	c := collection{sources: map[string]string{}, needed: map[int]bool{}}
	var users []string
	for i, example := range f.Examples {
		if example.Unsent != "" {
			continue
		}
		user := example.user()
		if !slices.Contains(users, user) {
			users = append(users, user)
		}
		if err := c.add(i, example); err != nil {
			return "", fmt.Errorf("%s: %s: %w", f.Name(), example.Title, err)
		}
	}
	if len(users) == 0 {
		return "", nil
	}
	var out strings.Builder
	fmt.Fprintf(&out, "# Generated from tests/examples/requests/%s. docs/collection/README.md tells how to use it.\n", f.Name())
	for _, user := range users {
		writeLogin(&out, user)
	}
	for _, r := range c.requests {
		r.write(&out, c.needed[r.index])
	}
	return out.String(), nil
}

// user returns the user that sends the example.
func (e *Example) user() string {
	if e.As == "" {
		return firstAdministrator
	}
	return e.As
}

// collection is a list of requests. The generated ids in a request are replaced by expressions that read them from
// earlier responses.
type collection struct {
	requests []collected
	// sources has the expression for each id of the responses, and needed the requests that expressions refer to.
	sources map[string]string
	needed  map[int]bool
}

// collected is a request of a collection. references are the indexes of the requests that it refers to.
type collected struct {
	Example
	index        int
	target, body string
	contentType  string
	references   []int
}

// add adds an example to the collection.
func (c *collection) add(i int, example Example) error {
	r := collected{Example: example, index: i}
	var err error
	if r.body, r.contentType, err = example.payload(); err != nil {
		return err
	}
	r.body, r.target = c.refer(&r, r.body), c.refer(&r, example.Do)
	slices.Sort(r.references)
	r.references = slices.Compact(r.references)
	c.requests = append(c.requests, r)
	response, err := jsonValue(example.Response)
	if err != nil {
		return err
	}
	c.learn(i, requestName(i), response)
	return nil
}

// payload returns the body as a client sends it, and its content type.
func (e *Example) payload() (body, contentType string, err error) {
	switch {
	case e.Form != nil:
		form := url.Values{}
		for name, value := range e.Form {
			form.Set(name, value)
		}
		return form.Encode(), "application/x-www-form-urlencoded", nil
	case e.JSON != nil:
		value, err := jsonValue(e.JSON)
		if err != nil {
			return "", "", err
		}
		var text bytes.Buffer
		encoder := json.NewEncoder(&text)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		err = encoder.Encode(value)
		// HTTP clients replace the text between {{ and }}. Indented JSON has {{ in texts only.
		body = strings.ReplaceAll(strings.TrimSuffix(text.String(), "\n"), "{{", `{\u007b`)
		return body, "application/json", err
	}
	return "", "", nil
}

// refer replaces the ids of earlier responses in a text by expressions, and notes the requests that r refers to.
func (c *collection) refer(r *collected, text string) string {
	return id.ReplaceAllStringFunc(text, func(found string) string {
		expression := c.sources[found]
		if expression == "" {
			return found
		}
		name, _, _ := strings.Cut(expression, ".")
		source, err := strconv.Atoi(strings.TrimPrefix(name, requestPrefix))
		if err != nil {
			return found
		}
		c.needed[source], r.references = true, append(r.references, source)
		return "{{" + expression + "}}"
	})
}

// learn notes the expressions for the ids of a response.
func (c *collection) learn(i int, expression string, response any) {
	switch v := response.(type) {
	case map[string]any:
		for name, value := range v {
			c.learn(i, expression+property(name), value)
		}
	case []any:
		for k, value := range v {
			c.learn(i, fmt.Sprintf("%s[%d]", expression, k), value)
		}
	case string:
		if id.FindString(v) != v || v == "" {
			return
		}
		if known := c.sources[v]; known == "" || isPreferred(expression, known) {
			c.sources[v] = expression
		}
	}
}

// isPreferred reports whether an expression of the same response is easier to read than the known one. The order of
// the properties does not matter, so that the collection is the same each time.
func isPreferred(expression, known string) bool {
	if before, _, _ := strings.Cut(known, "."); !strings.HasPrefix(expression, before+".") {
		return false
	}
	return len(expression) < len(known) || len(expression) == len(known) && expression < known
}

const requestPrefix = "request"

// requestName is the name of a request, which expressions and references use.
func requestName(i int) string { return requestPrefix + strconv.Itoa(i) }

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// property is the part of an expression that reads a property.
func property(name string) string {
	if identifier.MatchString(name) {
		return "." + name
	}
	return fmt.Sprintf(".[%q]", name)
}

// loginName is the name of the request that logs a user in.
func loginName(user string) string { return "login_" + strings.ReplaceAll(user, ".", "_") }

func writeLogin(out *strings.Builder, user string) {
	password := "password"
	if user == firstAdministrator {
		password = "admin_password"
	}
	fmt.Fprintf(out, `
### Log in as %s
# @name %s
POST {{host}}/api/authentication/access_token
Content-Type: application/x-www-form-urlencoded

grant_type=password&auth_chain=OAuthLdapService&username=%s&password={{encodeURIComponent(%s)}}&client_id={{client_id}}&client_secret={{encodeURIComponent(client_secret)}}

?? status == 200
`, user, loginName(user), user, password)
}

func (r *collected) write(out *strings.Builder, named bool) {
	method, target, _ := strings.Cut(r.target, " ")
	fmt.Fprintf(out, "\n### %s\n", r.Title)
	if named {
		fmt.Fprintf(out, "# @name %s\n", requestName(r.index))
	}
	fmt.Fprintf(out, "# @ref %s\n", loginName(r.user()))
	for _, source := range r.references {
		fmt.Fprintf(out, "# @ref %s\n", requestName(source))
	}
	fmt.Fprintf(out, "%s {{host}}%s\nAuthorization: Bearer {{%s.access_token}}\n", method, target, loginName(r.user()))
	if r.contentType != "" {
		fmt.Fprintf(out, "Content-Type: %s\n\n%s\n", r.contentType, r.body)
	}
	fmt.Fprintf(out, "\n?? status == %d\n", r.Status)
}
