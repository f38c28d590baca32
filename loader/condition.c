/* SPDX-License-Identifier: MIT */
#include "condition.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "condition_facts.h"
#include "version.h"

enum subject { SUBJECT_CUDA, SUBJECT_DRIVER, SUBJECT_ARCH, SUBJECT_MEMORY, SUBJECT_NAME };

/* What can stand before the sign, and an example of what stands behind it. */
static const struct {
    const char *name, *example;
} subjects[] = {{"cuda", "12.4"}, {"driver", "550.54"}, {"arch", "7.5"}, {"memory", "16G"}};

struct condition {
    const char *text; /* in the list */
    int length;
    enum subject subject;
    bool is_below;
    unsigned long long value; /* a version as 12040, a capability as 7050, a release, or bytes */
};

static const char between_conditions[] = " \t\n,";
enum { VALUE_SIZE = 32, NAME_SIZE = 96 };

/* ---- Reading ---- */

static CUSHIM_COLD bool read_cuda(const char *text, unsigned long long *out_value)
{
    *out_value = (unsigned long long)cush_version_parse(text);
    return *out_value != 0;
}

/* Reads 1 to 5 digits. Returns what is behind them, or NULL. */
static const char *read_digits(const char *text, unsigned long long *out_number)
{
    size_t digits = strspn(text, "0123456789");
    *out_number = strtoul(text, NULL, 10);
    return digits >= 1 && digits <= 5 ? text + digits : NULL;
}

unsigned long long cush_condition_release(const char *text)
{
    enum { PARTS = 3, FIRST_BRANCH = 300, LAST_BRANCH = 999 };
    unsigned long long release = 0, number = 0;
    for (int part = 0; part < PARTS; part++) {
        if (part == 0 || (text != NULL && *text == '.'))
            text = read_digits(text + (part > 0), &number);
        else
            number = 0;
        if (part == 0 && (number < FIRST_BRANCH || number > LAST_BRANCH))
            return 0;
        release = release << 20 | number;
    }
    return text != NULL && *text == '\0' ? release : 0;
}

static CUSHIM_COLD bool read_driver(const char *text, unsigned long long *out_value)
{
    *out_value = cush_condition_release(text);
    return *out_value != 0;
}

/* "75" is not compute capability 75.0. */
static CUSHIM_COLD bool read_arch(const char *text, unsigned long long *out_value)
{
    enum { LEAST = 2, MOST = 19 };
    unsigned long long major, minor = 0;
    const char *end = read_digits(text, &major);
    if (end != NULL && *end == '.' && end[1] >= '0' && end[1] <= '9') {
        minor = (unsigned long long)(end[1] - '0');
        end += 2;
    }
    *out_value = major * 1000 + minor * 10;
    return end != NULL && *end == '\0' && major >= LEAST && major <= MOST;
}

static CUSHIM_COLD bool read_memory(const char *text, unsigned long long *out_value)
{
    static const char units[] = "KMGT";
    unsigned long long value = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9'; at++) {
        unsigned digit = (unsigned)(*at - '0');
        if (value > (ULLONG_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    const char *unit = *at != '\0' ? strchr(units, *at) : NULL;
    int shift = unit != NULL ? 10 * (int)(unit - units + 1) : 0;
    *out_value = value << shift;
    return at != text && value <= ULLONG_MAX >> shift && at[unit != NULL] == '\0';
}

static bool read_value(enum subject subject, const char *text, size_t length, unsigned long long *out_value)
{
    static bool (*const readers[])(const char *, unsigned long long *) = {read_cuda, read_driver, read_arch,
                                                                          read_memory};
    char value[VALUE_SIZE];
    if (length >= sizeof value)
        return false;
    memcpy(value, text, length);
    value[length] = '\0';
    return readers[subject](value, out_value);
}

/* The subject of a text that is it and `sign`: SUBJECT_NAME if there is none. */
static enum subject find_subject(const char *text, size_t length)
{
    for (int subject = 0; subject < SUBJECT_NAME; subject++) {
        if (strlen(subjects[subject].name) == length && strncmp(subjects[subject].name, text, length) == 0)
            return (enum subject)subject;
    }
    return SUBJECT_NAME;
}

/* Takes the next word of a list. Returns false at its end. */
static bool next_word(const char **list, struct condition *out_word)
{
    const char *text = *list + strspn(*list, between_conditions);
    size_t length = strcspn(text, " \t\n,;");
    *out_word = (struct condition){.text = text, .length = (int)(length < INT_MAX ? length : INT_MAX)};
    *list = text + length;
    return length != 0;
}

/* Completes a word. Returns false if it has a sign and is not right; a name is not looked up. */
static bool condition_read(struct condition *word)
{
    size_t length = (size_t)word->length;
    size_t name = strcspn(word->text, "<>=");
    word->subject = SUBJECT_NAME;
    if (name >= length && word->text[0] >= '0' && word->text[0] <= '9')
        word->subject = SUBJECT_CUDA;
    if (name >= length)
        return word->subject == SUBJECT_NAME || read_value(SUBJECT_CUDA, word->text, length, &word->value);
    word->is_below = word->text[name] == '<';
    size_t sign = word->is_below ? 1 : 2;
    word->subject = find_subject(word->text, name);
    return word->subject != SUBJECT_NAME && (word->is_below || strncmp(word->text + name, ">=", 2) == 0)
           && read_value(word->subject, word->text + name + sign, length - name - sign, &word->value);
}

/* Takes the next condition of a list that is right. */
static bool next_condition(const char **list, struct condition *out_condition)
{
    return next_word(list, out_condition) && condition_read(out_condition);
}

static void condition_name(const struct condition *condition, char name[NAME_SIZE])
{
    int length = condition->length < NAME_SIZE ? condition->length : 0;
    snprintf(name, NAME_SIZE, "%.*s", length, condition->text);
}

/* ---- Checking ---- */

static enum condition_fault condition_check(const struct condition *condition, bool is_right,
                                            condition_is_name_fn is_name, char *message, size_t size)
{
    char name[NAME_SIZE];
    int length = condition->length < 80 ? condition->length : 80;
    condition_name(condition, name);
    if (!is_right && condition->subject != SUBJECT_NAME)
        snprintf(message, size, "\"%.*s\" is not a condition such as %s>=%s.", length, condition->text,
                 subjects[condition->subject].name, subjects[condition->subject].example);
    else if (!is_right)
        snprintf(message, size, "\"%.*s\" is not a condition such as cuda>=12.0, driver>=550, arch>=7.5, memory>=8G.",
                 length, condition->text);
    else if (condition->subject == SUBJECT_NAME && !is_name(name))
        snprintf(message, size, "\"%.*s\" is not the name of a slot or of a feature.", length, condition->text);
    else
        return CONDITION_RIGHT;
    return is_right ? CONDITION_NO_SUCH_NAME : CONDITION_WRONG;
}

enum condition_fault cush_conditions_check(const char *const *lists, size_t count, condition_is_name_fn is_name,
                                           size_t *out_index, char *message, size_t size)
{
    struct condition condition;
    for (size_t i = 0; i < count; i++) {
        const char *list = lists[i];
        while (next_word(&list, &condition)) {
            bool is_right = condition_read(&condition);
            enum condition_fault fault = condition_check(&condition, is_right, is_name, message, size);
            *out_index = i;
            if (fault != CONDITION_RIGHT)
                return fault;
        }
    }
    return CONDITION_RIGHT;
}

static bool is_of_gpu(const struct condition *condition)
{
    return condition->subject == SUBJECT_ARCH || condition->subject == SUBJECT_MEMORY;
}

bool cush_conditions_need_gpus(const char *const *lists, size_t count)
{
    struct condition condition;
    for (size_t i = 0; i < count; i++) {
        const char *list = lists[i];
        while (next_condition(&list, &condition)) {
            if (is_of_gpu(&condition))
                return true;
        }
    }
    return false;
}

bool cush_conditions_need_start(const char *list, condition_is_name_fn is_feature, char *text, size_t size)
{
    struct condition condition;
    char name[NAME_SIZE];
    while (next_condition(&list, &condition)) {
        condition_name(&condition, name);
        snprintf(text, size, "%s", name);
        if (condition.subject == SUBJECT_MEMORY || (condition.subject == SUBJECT_NAME && is_feature(name)))
            return true;
    }
    return false;
}

int cush_condition_version(const char *text)
{
    struct condition condition;
    if (!next_condition(&text, &condition) || condition.is_below)
        return 0;
    if (condition.subject == SUBJECT_DRIVER)
        return cush_version_of_release((int)(condition.value >> 40), true).first;
    return condition.subject == SUBJECT_CUDA ? (int)condition.value : 0;
}

bool cush_condition_is_one(const char *text)
{
    return text[0] != '\0' && text[strcspn(text, " \t\n,;")] == '\0';
}

bool cush_condition_list_is_empty(const char *list)
{
    struct condition unused;
    return !next_word(&list, &unused);
}

bool cush_condition_next_build(const char **text, struct condition_build *out_build, char *message, size_t size)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-";
    const char *name = *text + strspn(*text, between_conditions);
    size_t length = strspn(name, letters);
    const char *behind = name + length + strspn(name + length, between_conditions);
    bool has_conditions = *behind == ':';
    *out_build = (struct condition_build){name, length, has_conditions ? behind + 1 : ""};
    if (length == 0 || (!has_conditions && *behind != ';' && *behind != '\0')) {
        int shown = (int)strcspn(name, ":;\n");
        snprintf(message, size, "\"%.*s\" is not the name of a build; a semicolon (;) separates builds.",
                 shown < 80 ? shown : 80, name);
        return false;
    }
    const char *end = strchr(behind, ';');
    *text = end != NULL ? end + 1 : NULL;
    return true;
}

/* ---- Judging ---- */

static enum condition_answer answer_of(bool is_at_least, bool is_below)
{
    return is_at_least != is_below ? CONDITION_MET : CONDITION_UNMET;
}

static enum condition_answer compare(unsigned long long own, const struct condition *condition)
{
    return own != 0 ? answer_of(own >= condition->value, condition->is_below) : CONDITION_NOT_KNOWN;
}

/* By its release, or by its CUDA version where that decides: each version came with a branch. */
static enum condition_answer compare_driver(const struct condition_facts *facts, const struct condition *condition)
{
    struct version_range range =
        cush_version_of_release((int)(condition->value >> 40), (condition->value & 0xffffffffff) == 0);
    if (facts->cuda_version != 0 && facts->cuda_version < range.first)
        return answer_of(false, condition->is_below);
    if (facts->release != 0 && (facts->release >= condition->value) == (facts->release_last >= condition->value))
        return compare(facts->release, condition);
    if (facts->release != 0)
        return CONDITION_NOT_KNOWN;
    return facts->cuda_version >= range.certain ? answer_of(true, condition->is_below) : CONDITION_NOT_KNOWN;
}

/* Writes why a condition on the driver is not met or not known. */
static void explain_driver(const struct condition *condition, const struct condition_facts *facts, char *message,
                           size_t size)
{
    bool is_number = condition->text[0] >= '0' && condition->text[0] <= '9';
    char need[NAME_SIZE], own[VALUE_SIZE + 8] = "";
    condition_name(condition, need);
    if (is_number)
        snprintf(need, sizeof need, "CUDA %s", cush_version_text((int)condition->value).text);
    if (condition->subject == SUBJECT_DRIVER && facts->release != 0)
        snprintf(own, sizeof own, "%s, ", facts->driver.text);
    else if (condition->subject == SUBJECT_DRIVER)
        snprintf(own, sizeof own, "of a release that is not known, ");
    if (facts->cuda_version == 0)
        snprintf(message, size, "%s is required; the CUDA version of the driver is not known.", need);
    else
        snprintf(message, size, "%s is required; the driver is %s%s CUDA %s.", need, own,
                 facts->is_limited ? "limited to" : "for", cush_version_text(facts->cuda_version).text);
}

static enum condition_answer condition_judge(const struct condition *condition, const struct condition_facts *facts,
                                             char *message, size_t size)
{
    char name[NAME_SIZE];
    if (condition->subject == SUBJECT_NAME) {
        condition_name(condition, name);
        return facts->judge_name(name, facts, message, size);
    }
    enum condition_answer answer = condition->subject == SUBJECT_DRIVER
                                       ? compare_driver(facts, condition)
                                       : compare((unsigned long long)facts->cuda_version, condition);
    if (answer != CONDITION_MET)
        explain_driver(condition, facts, message, size);
    return answer;
}

/* Whether one GPU meets all conditions on GPUs. */
static enum condition_answer gpu_judge(const char *const *lists, size_t count, const struct condition_gpu *gpu)
{
    enum condition_answer all = CONDITION_MET;
    struct condition condition;
    for (size_t i = 0; i < count; i++) {
        const char *list = lists[i];
        while (next_condition(&list, &condition)) {
            enum condition_answer answer = CONDITION_MET;
            if (is_of_gpu(&condition))
                answer = compare(condition.subject == SUBJECT_ARCH ? (unsigned long long)gpu->capability : gpu->memory,
                                 &condition);
            if (answer == CONDITION_UNMET)
                return answer;
            all = answer == CONDITION_MET ? all : answer;
        }
    }
    return all;
}

/* Describes the first GPU, because most machines have one kind. */
static void explain_gpus(const struct condition_facts *facts, char *message, size_t size)
{
    const struct condition_gpu *gpu = &facts->gpus[0];
    char memory[48] = "";
    if (facts->gpu_count < 0) {
        snprintf(message, size, "The GPUs are not known: %s.", facts->gpus_why);
        return;
    }
    if (facts->gpu_count == 0) {
        snprintf(message, size, "no GPU was found.");
        return;
    }
    if (gpu->memory != 0)
        snprintf(memory, sizeof memory, " and %llu MiB", gpu->memory >> 20);
    snprintf(message, size, "no GPU meets all conditions: GPU 0 has compute capability %s%s.",
             gpu->capability != 0 ? cush_version_text(gpu->capability).text : "that is not known", memory);
}

static enum condition_answer gpus_judge(const char *const *lists, size_t count, const struct condition_facts *facts,
                                        char *message, size_t size)
{
    enum condition_answer best = facts->gpu_count < 0 ? CONDITION_NOT_KNOWN : CONDITION_UNMET;
    for (int i = 0; i < facts->gpu_count && best != CONDITION_MET; i++) {
        enum condition_answer answer = gpu_judge(lists, count, &facts->gpus[i]);
        best = answer == CONDITION_UNMET ? best : answer;
    }
    if (best != CONDITION_MET)
        explain_gpus(facts, message, size);
    return best;
}

enum condition_answer cush_conditions_judge(const char *const *lists, size_t count, const struct condition_facts *facts,
                                            size_t *out_index, char *message, size_t size)
{
    enum condition_answer all = CONDITION_MET;
    bool are_gpus_judged = false;
    struct condition condition;
    for (size_t i = 0; i < count; i++) {
        const char *list = lists[i];
        while (next_condition(&list, &condition)) {
            char why[CONDITION_MESSAGE_SIZE];
            enum condition_answer answer = CONDITION_MET;
            if (!is_of_gpu(&condition))
                answer = condition_judge(&condition, facts, why, sizeof why);
            else if (!are_gpus_judged && cush_condition_has_gpus()) /* else they were refused before */
                answer = gpus_judge(lists, count, facts, why, sizeof why);
            are_gpus_judged |= is_of_gpu(&condition);
            if (answer == CONDITION_MET || (answer == CONDITION_NOT_KNOWN && all == CONDITION_NOT_KNOWN))
                continue;
            snprintf(message, size, "%s", why);
            *out_index = i;
            all = answer;
            if (answer == CONDITION_UNMET)
                return all;
        }
    }
    return all;
}

/* ---- What is said of a machine ---- */

static bool fact_read(const struct condition *word, struct condition_facts *facts)
{
    size_t name = strcspn(word->text, "=");
    unsigned long long value = 0;
    enum subject subject = name < (size_t)word->length ? find_subject(word->text, name) : SUBJECT_NAME;
    if (subject == SUBJECT_NAME || !read_value(subject, word->text + name + 1, (size_t)word->length - name - 1, &value))
        return false;
    if (subject == SUBJECT_CUDA) {
        facts->cuda_version = (int)value;
    } else if (subject == SUBJECT_DRIVER) {
        const char *first_dot = memchr(word->text, '.', (size_t)word->length);
        const char *last_dot = first_dot;
        for (const char *at = word->text; at < word->text + word->length; at++)
            last_dot = *at == '.' ? at : last_dot;
        char text[VALUE_SIZE];
        snprintf(text, sizeof text, "%d", (int)(value >> 40));
        snprintf(facts->driver.text, sizeof facts->driver.text, "%.*s", word->length - (int)name - 1,
                 word->text + name + 1);
        facts->release = value;
        facts->release_last = value | (first_dot == NULL ? 0xffffffffff : first_dot == last_dot ? 0xfffff : 0);
        facts->cuda_version = cush_version_parse(text);
        return facts->cuda_version != 0;
    } else {
        facts->gpu_count = 1;
        if (subject == SUBJECT_ARCH)
            facts->gpus[0].capability = (int)value;
        else
            facts->gpus[0].memory = value;
    }
    return true;
}

bool cush_condition_read_facts(const char *text, struct condition_facts *facts, char *message, size_t size)
{
    struct condition word;
    *facts = (struct condition_facts){.gpu_count = -1, .gpus_why = "nothing was said of them"};
    if (strchr(text, ';') != NULL || cush_condition_list_is_empty(text)) {
        snprintf(message, size, "a machine is described by words such as driver=550.54 arch=8.0.");
        return false;
    }
    while (next_word(&text, &word)) {
        if (fact_read(&word, facts))
            continue;
        snprintf(message, size, "\"%.*s\" does not describe a machine, as driver=550.54 and arch=8.0 do.",
                 word.length < 80 ? word.length : 80, word.text);
        return false;
    }
    return true;
}
