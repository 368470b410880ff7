package employeegroup

import "strings"

// Group is an employee group by its name: an organization path, or the public
// hyperfind of a name. The zero Group has nobody in it.
type Group struct {
	// One of them is not empty.
	path, query string
}

// Parse returns the group that a managerEmployeeGroupName names. A name with a
// slash is a path, to which all belong whose primary labor account of today is
// at that path or below it; the path of a root ends with one ("Acme/"). A name
// without is that of a public hyperfind. It is never the other one as well: who
// deletes a hyperfind, or makes one, turns no group into another.
func Parse(name string) Group {
	name = strings.TrimSpace(name)
	if strings.Contains(name, "/") {
		return Group{path: strings.TrimRight(name, "/")}
	}
	return Group{query: name}
}

// Contains reports whether an organization path is in the group for sure: it is
// that of the group or below it. Whom a hyperfind finds does not follow from
// where they work.
func (g Group) Contains(organizationPath string) bool {
	return g.path != "" && (organizationPath == g.path || strings.HasPrefix(organizationPath, g.path+"/"))
}

// Within reports whether all who are in the group are in another one for sure.
func (g Group) Within(other Group) bool { return g == Group{} || other.Contains(g.path) }
