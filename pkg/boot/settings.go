package boot

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

// upper lists the words that titles of groups write in capitals.
var upper = map[string]bool{"https": true, "ldap": true, "nats": true, "rpc": true, "tls": true}

// groupFlagsByWord groups flags that begin with the same word, to structure the help text.
func groupFlagsByWord() kong.Option {
	return kong.PostBuild(func(k *kong.Kong) error {
		return kong.Visit(k.Model, func(at kong.Visitable, next kong.Next) error {
			if node := visitedNode(at); node != nil {
				groupFlags(node)
			}
			return next(nil)
		})
	})
}

func visitedNode(at kong.Visitable) *kong.Node {
	switch at := at.(type) {
	case *kong.Application:
		return at.Node
	case *kong.Node:
		return at
	default:
		return nil
	}
}

// groupFlags sets the groups of the flags of one command.
func groupFlags(node *kong.Node) {
	count := map[string]int{}
	for _, flag := range node.Flags {
		count[firstWord(flag.Name)]++
	}
	for _, flag := range node.Flags {
		if word := firstWord(flag.Name); flag.Group == nil && count[word] > 1 {
			flag.Group = &kong.Group{Key: word, Title: title(word)}
		}
	}
}

func firstWord(name string) string {
	word, _, _ := strings.Cut(name, "-")
	return word
}

func title(word string) string {
	if upper[word] {
		return strings.ToUpper(word)
	}
	return strings.ToUpper(word[:1]) + word[1:]
}

// writeSettings writes the settings of a program as Markdown: first those of all its commands, then
// those of each command with its own settings.
func writeSettings(w io.Writer, app *kong.Application) error {
	var failure error
	write := func(format string, args ...any) {
		if failure == nil {
			_, failure = fmt.Fprintf(w, format, args...)
		}
	}
	var visit func(node *kong.Node, path string)
	visit = func(node *kong.Node, path string) {
		settings := settingFlags(node)
		if len(settings) > 0 {
			write("\n### `%s`\n\n| flag | variable | default | meaning |\n|---|---|---|---|\n", path)
		}
		for _, flag := range settings {
			write("| `--%s` | %s | %s | %s |\n", flag.Name, code(strings.Join(flag.Envs, ", ")), code(defaultText(flag)), cell(flag.Help))
		}
		for _, child := range node.Children {
			visit(child, path+" "+child.Name)
		}
	}
	visit(app.Node, app.Name)
	return failure
}

// listedSetting is the JSON output for a setting.
type listedSetting struct {
	// Command is the command with the setting: the program, for a setting of all commands.
	Command  string `json:"command"`
	Flag     string `json:"flag"`
	Variable string `json:"variable"`
	Default  string `json:"default,omitempty"`
	Required bool   `json:"required,omitempty"`
	Meaning  string `json:"meaning"`
}

// listSettings returns the settings of a program, in the order of writeSettings.
func listSettings(app *kong.Application) []listedSetting {
	listed := []listedSetting{}
	var visit func(node *kong.Node, path string)
	visit = func(node *kong.Node, path string) {
		for _, flag := range settingFlags(node) {
			listed = append(listed, listedSetting{path, flag.Name, strings.Join(flag.Envs, ", "), flag.Default, flag.Required, flag.Help})
		}
		for _, child := range node.Children {
			visit(child, path+" "+child.Name)
		}
	}
	visit(app.Node, app.Name)
	return listed
}

// settingFlags returns the flags of a command that hold a setting.
func settingFlags(node *kong.Node) []*kong.Flag {
	var settings []*kong.Flag
	for _, flag := range node.Flags {
		if flag.Name != "help" && flag.Name != "version" && !flag.Hidden {
			settings = append(settings, flag)
		}
	}
	return settings
}

// defaultText returns the value of a flag that is not given.
func defaultText(flag *kong.Flag) string {
	switch {
	case flag.HasDefault:
		return flag.Default
	case flag.Required:
		return "required"
	case flag.IsBool():
		return "false"
	default:
		return ""
	}
}

func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}

// cell escapes a text for a cell of a table.
func cell(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "|", "\\|"), "\n", " ")
}
