package apidocs

import (
	"encoding/json"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/rotaloom/rotaloom/proto/gen/openapi"
)

// The page loads the description in parts, because a browser takes seconds for two megabytes: an index of all
// operations, an introduction without operations, and one part for each tag with the components that it uses.
const (
	partsPath        = "/docs/parts/"
	indexPath        = partsPath + "index.json"
	introductionPath = partsPath + "introduction.json"
)

// description is the API description, as far as the parts need it. Raw values keep the order of properties.
type description struct {
	OpenAPI    string                                `json:"openapi"`
	Info       info                                  `json:"info"`
	Servers    json.RawMessage                       `json:"servers"`
	Security   json.RawMessage                       `json:"security"`
	Tags       []tag                                 `json:"tags"`
	Groups     []group                               `json:"x-tagGroups,omitempty"`
	Paths      map[string]map[string]json.RawMessage `json:"paths"`
	Components map[string]map[string]json.RawMessage `json:"components"`
}

type info struct {
	Title       string `json:"title"`
	Version     string `json:"version"`
	Summary     string `json:"summary"`
	Description string `json:"description,omitempty"`
}

type tag struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

type group struct {
	Name string   `json:"name"`
	Tags []string `json:"tags"`
}

// indexTag is a tag in the index of the page.
type indexTag struct {
	Name        string           `json:"name"`
	Group       string           `json:"group"`
	Description string           `json:"description"`
	Part        string           `json:"part"`
	Operations  []indexOperation `json:"operations"`
}

type indexOperation struct {
	ID          string `json:"id"`
	Verb        string `json:"verb"`
	Path        string `json:"path"`
	Summary     string `json:"summary"`
	Description string `json:"description,omitempty"`
}

// whole returns the description. It is embedded in the program, and tests read all its parts.
var whole = sync.OnceValue(func() *description {
	d := &description{}
	if err := json.Unmarshal(openapi.JSON, d); err != nil {
		panic(err)
	}
	return d
})

// made holds the parts that clients have asked for.
var made = struct {
	sync.Mutex
	pages map[string]*Page
}{pages: map[string]*Page{}}

// findPart returns a part of the description, or nil.
func findPart(path string) *Page {
	made.Lock()
	defer made.Unlock()
	if page := made.pages[path]; page != nil {
		return page
	}
	part := whole().findBody(path)
	if part == nil {
		return nil
	}
	body, err := json.Marshal(part)
	if err != nil {
		// The part consists of JSON that was just read.
		panic(err)
	}
	page := newPage("application/json", body)
	made.pages[path] = page
	return page
}

// findBody returns what is at the path of a part, or nil.
func (d *description) findBody(path string) any {
	switch path {
	case indexPath:
		return d.makeIndex()
	case introductionPath:
		part := *d
		part.Tags, part.Groups, part.Paths = nil, nil, map[string]map[string]json.RawMessage{}
		part.Components = map[string]map[string]json.RawMessage{securitySchemes: d.Components[securitySchemes]}
		return part
	}
	at := slices.IndexFunc(d.Tags, func(t tag) bool { return partPath(t.Name) == path })
	if at < 0 {
		return nil
	}
	return d.makePart(at)
}

// makePart returns the part with the operations of a tag.
func (d *description) makePart(at int) description {
	part := *d
	part.OpenAPI = fastVersion
	// The introduction is a page of its own.
	part.Info.Description = ""
	part.Tags, part.Groups, part.Paths = d.Tags[at:at+1], nil, map[string]map[string]json.RawMessage{}
	var bodies []json.RawMessage
	for o := range d.operations() {
		if !slices.Contains(o.Tags, d.Tags[at].Name) {
			continue
		}
		if part.Paths[o.path] == nil {
			part.Paths[o.path] = map[string]json.RawMessage{}
		}
		part.Paths[o.path][o.verb] = describeReferences(o.body)
		bodies = append(bodies, o.body)
	}
	part.Components = d.collectComponents(bodies)
	return part
}

// makeIndex returns the tags with their operations.
func (d *description) makeIndex() []indexTag {
	operations := map[string][]indexOperation{}
	for o := range d.operations() {
		text, _, _ := strings.Cut(o.Description, accessMark)
		for _, name := range o.Tags {
			operations[name] = append(operations[name], indexOperation{
				ID: o.OperationID, Verb: strings.ToUpper(o.verb), Path: o.path, Summary: o.Summary, Description: strings.TrimSpace(text),
			})
		}
	}
	groups := map[string]string{}
	for _, g := range d.Groups {
		for _, name := range g.Tags {
			groups[name] = g.Name
		}
	}
	var index []indexTag
	for _, t := range d.Tags {
		index = append(index, indexTag{
			Name: t.Name, Group: groups[t.Name], Description: t.Description, Part: partPath(t.Name), Operations: operations[t.Name],
		})
	}
	return index
}

// operation is an operation of the description.
type operation struct {
	path, verb string
	body       json.RawMessage

	Tags                              []string
	OperationID, Summary, Description string
}

// operations returns the operations by path and verb.
func (d *description) operations() iter.Seq[operation] {
	return func(yield func(operation) bool) {
		for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
			for _, verb := range slices.Sorted(maps.Keys(d.Paths[path])) {
				o := operation{path: path, verb: verb, body: d.Paths[path][verb]}
				if err := json.Unmarshal(o.body, &o); err != nil {
					// The description is embedded in the program, and tests read all its operations.
					panic(err)
				}
				if !yield(o) {
					return
				}
			}
		}
	}
}

// accessMark begins the sentence of a description that says who may call the operation. The search leaves it out,
// because all operations have it.
const accessMark = "**Access:**"

const securitySchemes = "securitySchemes"

// fastVersion is the version of OpenAPI that the parts of the page name. Swagger UI needs three times as long to
// resolve a description of version 3.1, and shows nothing that 3.0 lacks but the names of languages of a text.
const fastVersion = "3.0.4"

var describedReference = regexp.MustCompile(`"\$ref":\s*("[^"]+"),\s*"description":`)

// describeReferences returns a body whose references have no other properties beside them. Version 3.0 ignores those.
func describeReferences(body json.RawMessage) json.RawMessage {
	return describedReference.ReplaceAll(body, []byte(`"allOf":[{"$$ref":$1}],"description":`))
}

var reference = regexp.MustCompile(`"#/components/(\w+)/([^"]+)"`)

// collectComponents returns the components that bodies refer to, directly or through other components, and the security schemes.
func (d *description) collectComponents(bodies []json.RawMessage) map[string]map[string]json.RawMessage {
	found := map[string]map[string]json.RawMessage{securitySchemes: d.Components[securitySchemes]}
	for len(bodies) > 0 {
		body := bodies[0]
		bodies = bodies[1:]
		for _, match := range reference.FindAllSubmatch(body, -1) {
			kind, name := string(match[1]), string(match[2])
			component, ok := d.Components[kind][name]
			if _, known := found[kind][name]; known || !ok {
				continue
			}
			if found[kind] == nil {
				found[kind] = map[string]json.RawMessage{}
			}
			found[kind][name] = describeReferences(component)
			bodies = append(bodies, component)
		}
	}
	return found
}

var separator = regexp.MustCompile(`[^a-z0-9]+`)

// partPath returns the path of the part of a tag: "/docs/parts/scheduling-shift-template.json".
func partPath(name string) string {
	return partsPath + separator.ReplaceAllString(strings.ToLower(name), "-") + ".json"
}
